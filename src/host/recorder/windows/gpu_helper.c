/*
 * Starts limpet-nvml and reads its messages.  They are checked: that process runs libraries of
 * others.
 */
#include "host/recorder/windows/gpu_helper.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/process/runtimes.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LIST_MS     60000
#define STEP_MS     100
#define NS_PER_MS   1000000ull
#define FOLDER_ROOM 200u

static const struct {
	const char *what, *why, *fix;
} failures[GPU_FAILURES] = {
	[GPU_NO_LIBRARY] = { "no metrics of GPUs: libnvidia-ml.so.1 is not there",
			     "it comes with NVIDIA's driver",
			     "install it, or name its folder in LD_LIBRARY_PATH" },
	[GPU_OLD_LIBRARY] = { "no metrics of GPUs: libnvidia-ml.so.1 is too old",
			      "a function of it is missing", "a driver of release 470 or later" },
	[GPU_REFUSED] = { "no metrics of GPUs: NVIDIA's library does not begin", NULL,
			  "nvidia-smi says more" },
	[GPU_NO_DEVICES] = { "no metrics of GPUs: NVIDIA's library knows of no device",
			     "none is there, or none may be used here", "nvidia-smi says more" },
	[GPU_PM_NO_LIBRARY] = { "no PM sampling: no libcupti is there",
				"it comes with CUDA's toolkit, or with PyTorch; that of the "
				"process is not loaded unasked: it is not known who wrote it",
				"name its folder in LD_LIBRARY_PATH, or leave --pm out" },
	[GPU_PM_OLD_LIBRARY] = { "no PM sampling: libcupti is too old",
				 "a function of it is missing", "CUPTI of CUDA 12.6 or later" },
	[GPU_PM_REFUSED] = { "no PM sampling: NVIDIA's library refuses it", NULL,
			     "leave --pm out" },
	[GPU_PM_NO_RIGHTS] = { "no PM sampling: the driver keeps counters for administrators "
			       "(ERR_NVGPUCTRPERM)",
			       NULL,
			       "root or CAP_SYS_ADMIN; or the module option nvidia "
			       "NVreg_RestrictProfilingToAdminUsers=0" },
	[GPU_PM_HELD] = { "no PM sampling: another profiler holds the device's counters", NULL,
			  "end it (ncu, nsys, dcgmi, another limpet), or leave --pm out" },
	[GPU_PM_NO_CHIP] = { "no PM sampling: not of this device", NULL,
			     "Turing or later, neither MIG nor WSL; leave --pm out" },
	[GPU_PM_UNKNOWN_METRIC] = { "no such metric of this device", NULL,
				    "limpet stat --list --pm lists them; names as of ncu: "
				    "sm__warps_active.avg.pct_of_peak_sustained_elapsed" },
	[GPU_PM_PASSES] = { "these metrics cannot be sampled at once", NULL,
			    "fewer of them: a program that runs is not run again" },
	[GPU_PM_TOO_MANY] = { "too many metrics", "32 can be sampled at once", "fewer of them" },
	[GPU_PM_NOT_OF_WINDOWS] = { "no .min or .max of windows: that of samples cannot be put "
				    "together",
				    NULL, "the .sum or the .avg of it" },
};

static bool is_of_names(uint32_t code)
{
	return code == GPU_PM_UNKNOWN_METRIC || code == GPU_PM_PASSES || code == GPU_PM_TOO_MANY ||
	       code == GPU_PM_NOT_OF_WINDOWS;
}

/* Can the folder be passed to a shell, and as one part of LD_LIBRARY_PATH?  The target may have
 * named it. */
static bool is_plain(const char *folder)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+-";

	return folder[0] == '/' && !folder[strspn(folder, plain)];
}

/* The folder of the libcupti that the process has mapped; "": none, or a name that cannot be passed
 * on. */
static void profiler_folder(pid_t pid, char ret[FOLDER_ROOM])
{
	const struct runtime_library *it;
	const char *path = NULL;
	struct maps maps = { 0 };
	struct err unused = { 0 };

	ret[0] = '\0';
	if (pid <= 0 || maps_read(pid, &maps, &unused))
		return;
	for (it = runtime_libraries; it->stem && !path; it++)
		if (it->runtime == RUNTIME_CUDA && !it->reveals)
			path = runtime_library_path(&maps, it);
	if (path && strlen(path) < FOLDER_ROOM) {
		snprintf(ret, FOLDER_ROOM, "%s", path);
		*strrchr(ret, '/') = '\0';
	}
	if (!is_plain(ret))
		ret[0] = '\0';
	maps_done(&maps);
}

static void library_advise(pid_t pid, struct err *err)
{
	char folder[FOLDER_ROOM];

	profiler_folder(pid, folder);
	if (folder[0])
		err_fix(err,
			"LD_LIBRARY_PATH=%s limpet ... loads that of the process, if you trust it",
			folder);
}

int gpu_helper_failed(const struct gpu_message *message, pid_t pid, struct err *err)
{
	uint32_t code = message->code < GPU_FAILURES ? message->code : (uint32_t)GPU_REFUSED;

	err_set(err, -ENODEV, "%s", failures[code].what);
	if (code == GPU_PM_PASSES)
		err_why(err, "they take %s passes", message->text);
	else
		err_why(err, "%s", failures[code].why ? failures[code].why : message->text);
	err_fix(err, "%s", failures[code].fix);
	if (code == GPU_PM_NO_LIBRARY || code == GPU_PM_OLD_LIBRARY)
		library_advise(pid, err);
	return is_of_names(code) ? err_exit(err, EXIT_USAGE) : err->code;
}

int gpu_helper_lost(struct err *err)
{
	err_set(err, -EIO, "no metrics of GPUs: limpet-nvml has ended");
	return err_why(err, "it needs glibc 2.34 or later, and libraries of NVIDIA's that do not "
			    "crash");
}

static bool message_is_sound(struct gpu_message *message)
{
	message->text[GPU_TEXT_MAX - 1] = message->more[GPU_MORE_MAX - 1] = '\0';
	return message->magic == GPU_MAGIC && message->kind < GPU_MESSAGES &&
	       message->device < GPU_DEVICES_MAX;
}

static int answer_is_late(struct err *err)
{
	return err_set(err, -ETIME, "no metrics of GPUs: limpet-nvml does not answer");
}

int gpu_helper_take(const struct helper *helper, int wait_ms, struct gpu_message *ret,
		    struct err *err)
{
	struct pollfd wait = { helper->socket, POLLIN, 0 };
	int r;

	ret->kind = GPU_MESSAGES;
	do
		r = poll(&wait, 1, wait_ms);
	while (r < 0 && errno == EINTR);
	if (!r)
		return answer_is_late(err);
	if (recv(helper->socket, ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret))
		return gpu_helper_lost(err);
	return message_is_sound(ret) ? 0 : gpu_helper_lost(err);
}

int gpu_helper_wait(const struct helper *helper, uint64_t until_ns, struct gpu_message *ret,
		    struct err *err)
{
	int r = -ETIME;

	while (r == -ETIME && now_ns() < until_ns) {
		if (interrupt_is_waiting())
			return err_set(
				err, -EINTR,
				"no metrics of GPUs: interrupted before limpet-nvml was ready");
		r = gpu_helper_take(helper, STEP_MS, ret, err);
		if (r == -ETIME)
			*err = (struct err){ 0 };
	}
	return r == -ETIME ? answer_is_late(err) : r;
}

int gpu_helper_order(const struct helper *helper, char order, struct err *err)
{
	return send(helper->socket, &order, 1, MSG_NOSIGNAL) == 1 ? 0 : gpu_helper_lost(err);
}

int gpu_helper_start(struct helper *ret, uint64_t interval_ms, pid_t pid, const char *pm_metrics,
		     struct err *err)
{
	CLEANUP(free) char *metrics = strdup(pm_metrics ? pm_metrics : "");
	char interval[24], number[24];
	char *words[] = { (char[]){ "limpet-nvml" }, interval, number, NULL, NULL };

	if (!metrics)
		return err_set(err, -ENOMEM, "no memory for metrics of GPUs");
	snprintf(interval, sizeof(interval), "%llu", (unsigned long long)interval_ms);
	snprintf(number, sizeof(number), "%d", (int)pid);
	if (pm_metrics)
		words[3] = metrics;
	return helper_start_nvml(ret, words, err);
}

int gpu_metrics_visit(gpu_metric_visitor *visit, void *context, struct err *err)
{
	struct gpu_message message = { 0 };
	struct helper helper = { 0, -1 };
	uint64_t until_ns = now_ns() + LIST_MS * NS_PER_MS;
	int r = gpu_helper_start(&helper, 0, 0, "", err);

	while (!r && message.kind != GPU_READY) {
		r = gpu_helper_wait(&helper, until_ns, &message, err);
		if (!r && message.kind == GPU_FAILURE)
			r = gpu_helper_failed(&message, 0, err);
		if (!r && message.kind == GPU_COUNTED)
			visit(message.text, message.more, context);
	}
	helper_end(&helper);
	return r;
}
