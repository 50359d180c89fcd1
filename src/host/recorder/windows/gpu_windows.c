/*
 * Host only.  What limpet-nvml says is checked before it is believed: a library of others' is in
 * it.
 */
#include "host/recorder/windows/gpu_windows.h"

#include "host/attach/children/helper.h"
#include "host/core/text/print.h"
#include "host/core/threads/worker.h"
#include "shared/wire/gpu_metrics.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READY_MS     20000 /* a driver that was asleep takes its time */
#define STOPPED_MS   5000
#define NS_PER_MS    1000000u
#define SUBJECT_ROOM (GPU_TEXT_MAX + 16u)

static const struct {
	const char *name, *unit, *description;
} facts[GPU_METRICS] = {
#define GPU_METRIC(name, key, unit, number, description) [GPU_##name] = { key, unit, description },
#include "shared/wire/gpu_metrics.def"
};

struct gpu_device {
	char subject[SUBJECT_ROOM];
	struct recorded_metric metrics[GPU_METRICS];
	uint32_t announced; /* bits */
};

struct gpu_windows {
	struct programs *programs;
	struct window_options options;
	pid_t pid;
	struct helper helper;
	struct gpu_device devices[GPU_DEVICES_MAX];
	struct window_batch batch;

	struct worker worker; /* its lock is of what follows */
	struct err failure;
};

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
};

static int failure_tell(const struct gpu_message *message, struct err *err)
{
	uint32_t code = MIN(message->code, (uint32_t)GPU_REFUSED);

	if (message->code < GPU_FAILURES)
		code = message->code;
	err_set(err, -ENODEV, "%s", failures[code].what);
	err_why(err, "%s", failures[code].why ? failures[code].why : message->text);
	return err_fix(err, "%s", failures[code].fix);
}

static int helper_lost(struct err *err)
{
	err_set(err, -EIO, "no metrics of GPUs: limpet-nvml has ended");
	return err_why(err, "it needs glibc 2.34 or later, and a libnvidia-ml that does not crash");
}

static bool message_is_sound(struct gpu_message *message)
{
	message->text[GPU_TEXT_MAX - 1] = '\0';
	return message->magic == GPU_MAGIC && message->kind < GPU_MESSAGES &&
	       message->device < GPU_DEVICES_MAX;
}

/* The next; -ETIME after so many milliseconds. */
static int message_take(struct gpu_windows *self, int wait_ms, struct gpu_message *ret,
			struct err *err)
{
	struct pollfd wait = { self->helper.socket, POLLIN, 0 };
	int r;

	ret->kind = GPU_MESSAGES;
	do
		r = poll(&wait, 1, wait_ms);
	while (r < 0 && errno == EINTR);
	if (!r)
		return err_set(err, -ETIME, "no metrics of GPUs: limpet-nvml does not answer");
	if (recv(self->helper.socket, ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret))
		return helper_lost(err);
	return message_is_sound(ret) ? 0 : helper_lost(err);
}

static int order_send(const struct gpu_windows *self, char order, struct err *err)
{
	return send(self->helper.socket, &order, 1, MSG_NOSIGNAL) == 1 ? 0 : helper_lost(err);
}

static int devices_learn(struct gpu_windows *self, struct err *err)
{
	struct gpu_message message = { 0 };
	int r = 0;

	while (!r && message.kind != GPU_READY) {
		r = message_take(self, READY_MS, &message, err);
		if (!r && message.kind == GPU_FAILURE)
			r = failure_tell(&message, err);
		if (!r && message.kind == GPU_DEVICE)
			print_into(self->devices[message.device].subject, SUBJECT_ROOM, "%s %u",
				   message.text, message.device);
	}
	return r;
}

int gpu_windows_new(struct gpu_windows **ret, struct recording *recording,
		    struct programs *programs, const struct window_options *options, pid_t pid,
		    struct err *err)
{
	struct gpu_windows *self = calloc(1, sizeof(*self));
	char interval[24], number[24];
	char *const words[] = { (char[]){ "limpet-nvml" }, interval, number, NULL };
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory for metrics of GPUs");
	worker_init(&self->worker);
	self->programs = programs;
	self->options = *options;
	self->pid = pid;
	self->batch.recording = recording;
	snprintf(interval, sizeof(interval), "%llu",
		 (unsigned long long)MAX(options->interval_ns / NS_PER_MS, 1u));
	snprintf(number, sizeof(number), "%d", (int)pid);
	r = helper_start_nvml(&self->helper, words, err);
	if (!r)
		r = devices_learn(self, err);
	if (r)
		gpu_windows_free(self);
	else
		*ret = self;
	return r;
}

void gpu_windows_free(struct gpu_windows *self)
{
	if (!self)
		return;
	if (self->helper.pid > 0) /* the thread, where it is, finds the end */
		shutdown(self->helper.socket, SHUT_RDWR);
	worker_stop(&self->worker);
	worker_done(&self->worker);
	helper_end(&self->helper);
	window_batch_done(&self->batch);
	free(self);
}

static bool is_of_process(uint32_t metric)
{
	return metric == GPU_PROCESS_SM || metric == GPU_PROCESS_MEMORY;
}

static int metric_announce(struct gpu_windows *self, uint32_t device, uint32_t metric,
			   struct err *err)
{
	struct gpu_device *known = &self->devices[device];
	uint32_t process = PROCESS_NONE;

	if (is_of_process(metric) && !programs_find(self->programs, self->pid, &process))
		process = PROCESS_NONE;
	known->announced |= 1u << metric;
	known->metrics[metric] =
		(struct recorded_metric){ .process = process,
					  .form = METRIC_LEVEL,
					  .device = device,
					  .source = "nvml",
					  .name = facts[metric].name,
					  .unit = facts[metric].unit,
					  .subject = known->subject,
					  .description = facts[metric].description };
	return recording_metrics(self->batch.recording, &known->metrics[metric], 1, err);
}

static int value_write(struct gpu_windows *self, const struct gpu_message *message, uint32_t metric,
		       struct err *err)
{
	const struct recorded_metric *known = &self->devices[message->device].metrics[metric];
	bool is_there = message->present >> metric & 1 && isfinite(message->values[metric]);
	const struct recorded_window window = { .metric = known->number,
						.flags = is_there ? 0 : WINDOW_MISSING,
						.begin_ns = message->begin_ns,
						.end_ns = message->end_ns,
						.value = is_there ? message->values[metric] : 0 };

	if (self->options.observe)
		self->options.observe(self->options.context, known, &window);
	return window_batch_add(&self->batch, &window, err);
}

/* What a device has never told is not there at all. */
static int window_write(struct gpu_windows *self, const struct gpu_message *message,
			struct err *err)
{
	struct gpu_device *device = &self->devices[message->device];
	int r = 0;

	if (message->end_ns <= message->begin_ns)
		return 0;
	for (uint32_t i = 0; !r && i < GPU_METRICS; i++) {
		bool is_known = device->announced >> i & 1;

		if (!is_known && message->present >> i & 1)
			r = metric_announce(self, message->device, i, err);
		if (!r && device->announced >> i & 1)
			r = value_write(self, message, i, err);
	}
	return r;
}

static bool is_stopping(struct gpu_windows *self)
{
	bool is_stopping;

	worker_lock(&self->worker);
	is_stopping = self->worker.is_stopping;
	worker_unlock(&self->worker);
	return is_stopping;
}

/* Long windows are waited for, but not when it shall stop. */
static int windows_take(struct gpu_windows *self, struct gpu_message *message, struct err *err)
{
	int r = message_take(self, STOPPED_MS, message, err);

	if (r == -ETIME && !is_stopping(self)) {
		*err = (struct err){ 0 };
		return 0;
	}
	return !r && message->kind == GPU_WINDOW ? window_write(self, message, err) : r;
}

/* Until it has stopped. */
static void *windows_run(void *argument)
{
	struct gpu_windows *self = argument;
	struct gpu_message message = { 0 };
	struct err err = { 0 };
	int r = 0;

	while (!r && message.kind != GPU_STOPPED)
		r = windows_take(self, &message, &err);
	worker_lock(&self->worker);
	self->failure = err;
	worker_unlock(&self->worker);
	return NULL;
}

int gpu_windows_start(struct gpu_windows *self, struct err *err)
{
	int r = order_send(self, GPU_GO, err);

	if (r)
		return r;
	r = worker_start(&self->worker, windows_run, self);
	return r ? err_set(err, r, "metrics of GPUs: no thread: %s", strerror(-r)) : 0;
}

int gpu_windows_check(struct gpu_windows *self, struct err *err)
{
	return worker_check(&self->worker, &self->failure, err);
}

int gpu_windows_pause(struct gpu_windows *self, struct err *err)
{
	int r = gpu_windows_check(self, err);

	if (!r && self->worker.is_running)
		r = order_send(self, GPU_STOP, err);
	worker_stop(&self->worker);
	if (!r)
		r = gpu_windows_check(self, err);
	return r ? r : window_batch_flush(&self->batch, err);
}
