/*
 * Starts limpet-nvml and reads its messages.  They are checked: that process runs libraries of
 * others.
 */
#include "host/recorder/windows/gpu_helper.h"

#include "host/attach/children/blobs.h"
#include "host/attach/children/spawn.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/notes.h"
#include "host/core/self/interrupt.h"
#include "host/process/maps.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define READY_MS    60000 /* a sleeping driver needs time to start, and CUPTI seconds a device */
#define STEP_MS     100
#define NS_PER_MS   1000000ull
#define FOLDER_ROOM 200u
#define END_NS      2000000000ull
#define KILL_NS     1000000000ull
#define STEP_NS     2000000

static const struct {
	const char *what, *why, *fix;
	bool is_usage; /* the names of metrics are wrong */
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
				    "sm__warps_active.avg.pct_of_peak_sustained_elapsed",
				    true },
	[GPU_PM_PASSES] = { "these metrics cannot be sampled at once", NULL,
			    "fewer of them: a program that runs is not run again", true },
	[GPU_PM_TOO_MANY] = { "too many metrics", "32 can be sampled at once", "fewer of them",
			      true },
	[GPU_PM_NOT_OF_WINDOWS] = { "no .min or .max of windows: that of samples cannot be put "
				    "together",
				    NULL, "the .sum or the .avg of it", true },
};

/* The folder of the libcupti that the process has mapped; "": none, or a name that cannot be passed
 * to a shell, and as one part of LD_LIBRARY_PATH.  The target may have named it. */
static void profiler_folder(pid_t pid, char ret[FOLDER_ROOM])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+-";
	const struct runtime_library *it;
	const char *path = NULL;
	struct maps maps = { 0 };

	ret[0] = '\0';
	if (pid <= 0 || maps_read(pid, &maps, NULL))
		return;
	for (it = runtime_libraries; it->stem && !path; it++)
		if (it->runtime == RUNTIME_CUDA && !it->reveals)
			path = runtime_library_path(&maps, it);
	if (path && strlen(path) < FOLDER_ROOM) {
		snprintf(ret, FOLDER_ROOM, "%s", path);
		*strrchr(ret, '/') = '\0';
	}
	if (ret[0] != '/' || ret[strspn(ret, plain)])
		ret[0] = '\0';
	maps_done(&maps);
}

int gpu_helper_failed(const struct gpu_message *message, pid_t pid, struct err *err)
{
	uint32_t code = message->code < GPU_FAILURES ? message->code : (uint32_t)GPU_REFUSED;
	char folder[FOLDER_ROOM] = "";

	err_set(err, -ENODEV, "%s", failures[code].what);
	if (code == GPU_PM_PASSES)
		err_why(err, "they take %s passes", message->text);
	else
		err_why(err, "%s", failures[code].why ? failures[code].why : message->text);
	err_fix(err, "%s", failures[code].fix);
	if (code == GPU_PM_NO_LIBRARY || code == GPU_PM_OLD_LIBRARY)
		profiler_folder(pid, folder);
	if (folder[0])
		err_fix(err,
			"LD_LIBRARY_PATH=%s limpet ... loads that of the process, if you trust it",
			folder);
	return failures[code].is_usage ? err_exit(err, EXIT_USAGE) : err->code;
}

int gpu_helper_lost(struct err *err)
{
	err_set(err, -EIO, "no metrics of GPUs: limpet-nvml has ended");
	return err_why(err, "it needs glibc 2.34 or later, and libraries of NVIDIA's that do not "
			    "crash");
}

static int answer_is_late(struct err *err)
{
	return err_set(err, -ETIME, "no metrics of GPUs: limpet-nvml does not answer");
}

int gpu_helper_receive(const struct gpu_helper *helper, int wait_ms, struct gpu_message *ret,
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
	ret->text[GPU_TEXT_MAX - 1] = ret->more[GPU_MORE_MAX - 1] = '\0';
	return ret->magic == GPU_MAGIC && ret->kind < GPU_MESSAGES && ret->device < GPU_DEVICES_MAX
		       ? 0
		       : gpu_helper_lost(err);
}

/* The same until then, or until SIGINT or SIGTERM has come: -EINTR. */
static int helper_wait(const struct gpu_helper *helper, uint64_t until_ns, struct gpu_message *ret,
		       struct err *err)
{
	int r = -ETIME;

	while (r == -ETIME && now_ns() < until_ns) {
		if (interrupt_is_waiting())
			return err_set(
				err, -EINTR,
				"no metrics of GPUs: interrupted before limpet-nvml was ready");
		r = gpu_helper_receive(helper, STEP_MS, ret, err);
		if (r == -ETIME)
			*err = (struct err){ 0 };
	}
	return r == -ETIME ? answer_is_late(err) : r;
}

int gpu_helper_learn(const struct gpu_helper *helper, pid_t pid, gpu_learn *learn, void *context,
		     struct err *err)
{
	uint64_t until_ns = now_ns() + READY_MS * NS_PER_MS;
	struct gpu_message message = { 0 };
	int r = 0;

	while (!r && message.kind != GPU_READY) {
		r = helper_wait(helper, until_ns, &message, err);
		if (!r)
			r = message.kind == GPU_FAILURE ? gpu_helper_failed(&message, pid, err)
							: learn(context, &message, err);
	}
	return r;
}

int gpu_helper_order(const struct gpu_helper *helper, char order, struct err *err)
{
	return send(helper->socket, &order, 1, MSG_NOSIGNAL) == 1 ? 0 : gpu_helper_lost(err);
}

/* The child unblocks all signals: a caller may have blocked some.  It changes its directory: an
 * empty part of LD_LIBRARY_PATH means the current one, in which any user may have put libraries. */
static int helper_spawn(struct gpu_helper *helper, int program, int socket, char *const words[])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	r = posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
	if (!r)
		r = posix_spawn_file_actions_addchdir_np(&actions, "/");
	if (!r)
		r = posix_spawnattr_setsigmask(&attributes, &none);
	if (!r) /* no terminal signals: its reader ends it */
		r = posix_spawnattr_setflags(&attributes,
					     POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	if (!r)
		r = posix_spawn(&helper->pid, path, &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int gpu_helper_start(struct gpu_helper *ret, uint64_t interval_ms, pid_t pid,
		     const char *pm_metrics, struct err *err)
{
	CLEANUP(free) char *metrics = strdup(pm_metrics ? pm_metrics : "");
	CLEANUP(close)
	int program = program_open("limpet-nvml", blob_nvml, (size_t)(blob_nvml_end - blob_nvml));
	char interval[24], number[24];
	char *words[] = { (char[]){ "limpet-nvml" }, interval, number, pm_metrics ? metrics : NULL,
			  NULL };
	int pair[2], r;

	*ret = (struct gpu_helper){ 0, -1 };
	if (!metrics)
		return err_set(err, -ENOMEM, "no memory for metrics of GPUs");
	if (program < 0)
		return err_set(err, program, "cannot make the program limpet-nvml: %s",
			       strerror(-program));
	snprintf(interval, sizeof(interval), "%llu", (unsigned long long)interval_ms);
	snprintf(number, sizeof(number), "%d", (int)pid);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(err, -errno, "a socket for limpet-nvml: %s", strerror(errno));
	r = helper_spawn(ret, program, pair[1], words);
	close(pair[1]);
	if (!r) {
		ret->socket = pair[0];
		return 0;
	}
	close(pair[0]);
	*ret = (struct gpu_helper){ 0, -1 };
	return err_set(err, r, "cannot run limpet-nvml: %s", strerror(-r));
}

static bool helper_ends_within(const struct gpu_helper *helper, uint64_t time_ns)
{
	uint64_t end_ns = now_ns() + time_ns;

	for (;;) {
		pid_t pid = waitpid(helper->pid, NULL, WNOHANG);

		if (pid == helper->pid || (pid < 0 && errno == ECHILD))
			return true;
		if (now_ns() >= end_ns)
			return false;
		sleep_ns(STEP_NS);
	}
}

/* SIGKILL does not end a helper inside a driver's call until the driver returns. */
void gpu_helper_end(struct gpu_helper *helper)
{
	if (helper->pid <= 0)
		return;
	close(helper->socket);
	if (!helper_ends_within(helper, END_NS)) {
		kill(helper->pid, SIGKILL);
		if (!helper_ends_within(helper, KILL_NS))
			note_add(
				"limpet-nvml (%d) was killed and has not ended: a driver holds it; "
				"it was left",
				(int)helper->pid);
	}
	*helper = (struct gpu_helper){ 0, -1 };
}

int gpu_metrics_list(gpu_learn *learn, void *context, struct err *err)
{
	struct gpu_helper helper = { 0, -1 };
	int r = gpu_helper_start(&helper, 0, 0, "", err);

	if (!r)
		r = gpu_helper_learn(&helper, 0, learn, context, err);
	gpu_helper_end(&helper);
	return r;
}
