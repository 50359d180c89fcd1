/*
 * Writes the messages of limpet-nvml as windows.  They are checked: that process runs a library of
 * others.
 */
#include "host/recorder/windows/windows.h"

#include "host/core/clock.h"
#include "host/core/text/print.h"
#include "host/core/threads/worker.h"
#include "host/recorder/windows/gpu_helper.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define STOPPED_MS   5000
#define LOOK_MS      500 /* between checks for the end */
#define NS_PER_MS    1000000u
#define SUBJECT_ROOM (GPU_TEXT_MAX + 16u)

static const struct {
	const char *name, *unit, *description;
} facts[GPU_METRICS] = {
#define GPU_METRIC(name, key, unit, number, description) [GPU_##name] = { key, unit, description },
#include "shared/wire/gpu_metrics.def"
};

/* Metrics of one device from one source. */
struct gpu_source {
	struct recorded_metric metrics[GPU_COUNTED_MAX];
	uint32_t announced; /* bits */
};

struct gpu_device {
	char subject[SUBJECT_ROOM];
	struct gpu_source asked, counted;
};

/* A sampled metric. */
struct gpu_counted {
	char name[GPU_TEXT_MAX], description[GPU_MORE_MAX];
	bool adds_up;
};

struct gpu_windows {
	struct programs *programs;
	pid_t pid;
	struct gpu_helper helper;
	struct gpu_device devices[GPU_DEVICES_MAX];
	struct gpu_counted counted[GPU_COUNTED_MAX];
	uint32_t counted_count;
	struct window_batch batch;
	uint64_t stop_ns; /* when its thread saw the request to stop; 0: not yet */

	struct worker worker; /* its lock guards what follows */
	struct err failure;
};

static int message_learn(void *context, const struct gpu_message *message, struct err *err)
{
	struct gpu_windows *self = context;
	struct gpu_counted *counted = &self->counted[self->counted_count];

	if (message->kind == GPU_DEVICE)
		print_into(self->devices[message->device].subject, SUBJECT_ROOM, "%s %u",
			   message->text, message->device);
	if (message->kind != GPU_COUNTED)
		return 0;
	if (message->code != self->counted_count || message->code >= GPU_COUNTED_MAX)
		return gpu_helper_lost(err);
	print_into(counted->name, sizeof(counted->name), "%s", message->text);
	print_into(counted->description, sizeof(counted->description), "%s", message->more);
	counted->adds_up = message->present;
	self->counted_count++;
	return 0;
}

int gpu_windows_new(struct gpu_windows **ret, struct programs *programs,
		    const struct window_options *options, pid_t pid, struct err *err)
{
	struct gpu_windows *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory for metrics of GPUs");
	worker_init(&self->worker);
	self->programs = programs;
	self->pid = pid;
	self->batch =
		(struct window_batch){ .recording = programs->recording, .options = *options };
	r = gpu_helper_start(&self->helper, MAX(options->interval_ns / NS_PER_MS, 1u), pid,
			     options->pm_metrics, err);
	if (!r)
		r = gpu_helper_learn(&self->helper, pid, message_learn, self, err);
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
	if (self->helper.pid > 0) /* the thread, if there is one, sees the end */
		shutdown(self->helper.socket, SHUT_RDWR);
	worker_stop(&self->worker);
	worker_done(&self->worker);
	gpu_helper_end(&self->helper);
	free(self->batch.items);
	free(self);
}

static void asked_describe(const struct gpu_windows *self, uint32_t metric,
			   struct recorded_metric *ret)
{
	bool is_of_process = metric == GPU_PROCESS_SM || metric == GPU_PROCESS_MEMORY;
	uint32_t process = PROCESS_NONE;

	if (is_of_process && !programs_find(self->programs, self->pid, &process))
		process = PROCESS_NONE;
	*ret = (struct recorded_metric){ .process = process,
					 .form = METRIC_LEVEL,
					 .source = "nvml",
					 .name = facts[metric].name,
					 .unit = facts[metric].unit,
					 .description = facts[metric].description };
}

static const char *unit_of(const char *name)
{
	if (strstr(name, ".pct"))
		return "%";
	if (!strstr(name, ".per_second"))
		return "";
	return strstr(name, "bytes") ? "B/s" : "/s";
}

static void counted_describe(const struct gpu_windows *self, uint32_t metric,
			     struct recorded_metric *ret)
{
	const struct gpu_counted *counted = &self->counted[metric];

	*ret = (struct recorded_metric){ .process = PROCESS_NONE,
					 .form = counted->adds_up ? METRIC_COUNT : METRIC_LEVEL,
					 .source = "cupti",
					 .name = counted->name,
					 .unit = unit_of(counted->name),
					 .description = counted->description };
}

static int metric_announce(struct gpu_windows *self, const struct gpu_message *message,
			   struct gpu_source *source, uint32_t metric, struct err *err)
{
	struct recorded_metric *known = &source->metrics[metric];

	if (message->kind == GPU_WINDOW)
		asked_describe(self, metric, known);
	else
		counted_describe(self, metric, known);
	known->device = message->device;
	known->subject = self->devices[message->device].subject;
	source->announced |= 1u << metric;
	return recording_metrics(self->batch.recording, known, 1, err);
}

static int value_write(struct gpu_windows *self, const struct gpu_message *message,
		       const struct recorded_metric *known, uint32_t metric, struct err *err)
{
	bool is_there = message->present >> metric & 1 && isfinite(message->values[metric]);
	const struct recorded_window window = { .metric = known->number,
						.flags = is_there ? 0 : WINDOW_MISSING,
						.begin_ns = message->begin_ns,
						.end_ns = message->end_ns,
						.value = is_there ? message->values[metric] : 0 };

	return window_batch_add(&self->batch, known, &window, err);
}

/* Metrics that NVML never returned for a device do not exist there; sampled ones were requested. */
static int window_write(struct gpu_windows *self, const struct gpu_message *message,
			struct err *err)
{
	struct gpu_device *device = &self->devices[message->device];
	bool is_asked = message->kind == GPU_WINDOW;
	struct gpu_source *source = is_asked ? &device->asked : &device->counted;
	uint32_t count = is_asked ? (uint32_t)GPU_METRICS : self->counted_count;
	int r = 0;

	if (message->end_ns <= message->begin_ns)
		return 0;
	for (uint32_t i = 0; !r && i < count; i++) {
		bool is_known = source->announced >> i & 1;

		if (!is_known && (!is_asked || message->present >> i & 1))
			r = metric_announce(self, message, source, i, err);
		if (!r && source->announced >> i & 1)
			r = value_write(self, message, &source->metrics[i], i, err);
	}
	return r;
}

static bool stop_is_overdue(struct gpu_windows *self)
{
	bool is_stopping;

	worker_lock(&self->worker);
	is_stopping = self->worker.is_stopping;
	worker_unlock(&self->worker);
	if (!is_stopping)
		return false;
	if (!self->stop_ns)
		self->stop_ns = now_ns();
	return now_ns() - self->stop_ns >= STOPPED_MS * (uint64_t)NS_PER_MS;
}

/* Waits for long windows, but not when it shall stop. */
static int message_handle(struct gpu_windows *self, struct gpu_message *message, struct err *err)
{
	int r = gpu_helper_receive(&self->helper, LOOK_MS, message, err);

	if (r == -ETIME && !stop_is_overdue(self)) {
		*err = (struct err){ 0 };
		return 0;
	}
	if (!r && message->kind == GPU_FAILURE)
		return gpu_helper_failed(message, self->pid, err);
	if (!r && (message->kind == GPU_WINDOW || message->kind == GPU_COUNTED_WINDOW))
		return window_write(self, message, err);
	return r;
}

/* Until it has stopped. */
static void *windows_run(void *argument)
{
	struct gpu_windows *self = argument;
	struct gpu_message message = { 0 };
	struct err err = { 0 };
	int r = 0;

	while (!r && message.kind != GPU_STOPPED)
		r = message_handle(self, &message, &err);
	worker_lock(&self->worker);
	self->failure = err;
	worker_unlock(&self->worker);
	return NULL;
}

int gpu_windows_start(struct gpu_windows *self, struct err *err)
{
	int r = gpu_helper_order(&self->helper, GPU_GO, err);

	self->stop_ns = 0;
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
		r = gpu_helper_order(&self->helper, GPU_STOP, err);
	worker_stop(&self->worker);
	if (!r)
		r = gpu_windows_check(self, err);
	return r ? r : window_batch_flush(&self->batch, err);
}
