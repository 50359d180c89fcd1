/*
 * Reads the counters of processes at an interval.
 */
#include "host/recorder/windows/cpu_windows.h"

#include "host/core/clock.h"
#include "host/core/threads/worker.h"
#include "host/counters/counting.h"
#include "host/counters/reason.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REASONS_MAX 2048u

/* One event of one process. */
struct cpu_metric {
	char name[COUNTER_NAME_MAX];
	struct recorded_metric facts;
};

struct cpu_windows {
	struct programs *programs;
	struct window_options options;
	struct counter_events events;
	struct counting counting;
	bool is_open;
	struct cpu_metric *metrics; /* all events of each process; by index */
	size_t metric_count;
	bool *is_over;     /* per process: its last window is written */
	uint32_t *numbers; /* per process, in the recording */
	struct window_batch batch;
	char reasons[REASONS_MAX];

	struct worker worker; /* its lock guards what follows */
	struct err failure;
};

int cpu_windows_new(struct cpu_windows **ret, struct recording *recording,
		    struct programs *programs, const struct window_options *options,
		    struct err *err)
{
	struct cpu_windows *self = calloc(1, sizeof(*self));

	if (!self)
		return err_set(err, -ENOMEM, "counters: no memory");
	worker_init(&self->worker);
	self->programs = programs;
	self->options = *options;
	self->events = *options->events;
	self->batch.recording = recording;
	*ret = self;
	return 0;
}

static void counting_end(struct cpu_windows *self)
{
	if (self->is_open)
		counting_close(&self->counting);
	self->is_open = false;
	free(self->metrics);
	free(self->is_over);
	free(self->numbers);
	self->metrics = NULL;
	self->is_over = NULL;
	self->numbers = NULL;
}

void cpu_windows_free(struct cpu_windows *self)
{
	if (!self)
		return;
	worker_stop(&self->worker);
	worker_done(&self->worker);
	counting_end(self);
	window_batch_done(&self->batch);
	free(self);
}

const char *cpu_windows_reasons(const struct cpu_windows *self)
{
	return self->reasons;
}

static struct cpu_metric *metric_of(const struct cpu_windows *self, size_t process, size_t event)
{
	return &self->metrics[process * self->events.count + event];
}

static bool is_refused(const struct cpu_windows *self, size_t process, size_t event)
{
	return counting_answer(&self->counting, &self->counting.processes[process], event)->refusal;
}

/* Why an event is not counted; each reason is reported once. */
static void reason_add(struct cpu_windows *self, size_t process, size_t event)
{
	const struct counter_answer *answer =
		counting_answer(&self->counting, &self->counting.processes[process], event);
	const struct counter_event *item = &self->events.items[event];
	struct counter_machine machine;
	struct counter_reason reason;
	size_t used = strlen(self->reasons);
	char line[512];

	counter_machine_read(&machine);
	if (!counter_reason_find(item, answer, &(struct count){ .status = COUNT_NOT_COUNTED },
				 &machine, &reason))
		return;
	snprintf(line, sizeof(line), "%s: %s%s%s\n", item->name, reason.why,
		 reason.fix[0] ? "; " : "", reason.fix);
	if (!strstr(self->reasons, line) && used + strlen(line) < sizeof(self->reasons))
		memcpy(self->reasons + used, line, strlen(line) + 1);
}

static int metric_make(struct cpu_windows *self, size_t process, size_t event, struct err *err)
{
	const struct counted_process *counted = &self->counting.processes[process];
	const struct counter_event *item = &self->events.items[event];
	struct cpu_metric *metric = metric_of(self, process, event);

	counter_shown_name(item, counting_answer(&self->counting, counted, event), metric->name);
	metric->facts = (struct recorded_metric){ .process = self->numbers[process],
						  .form = METRIC_COUNT,
						  .device = METRIC_NO_DEVICE,
						  .source = "perf",
						  .name = metric->name,
						  .unit = item->is_time ? "ns" : "",
						  .subject = "",
						  .description = "" };
	return recording_metrics(self->batch.recording, &metric->facts, 1, err);
}

static int metrics_make(struct cpu_windows *self, struct err *err)
{
	int r = 0;

	self->metrics = calloc(self->counting.count * self->events.count, sizeof(*self->metrics));
	self->is_over = calloc(self->counting.count, sizeof(*self->is_over));
	self->numbers = calloc(self->counting.count, sizeof(*self->numbers));
	if (!self->metrics || !self->is_over || !self->numbers)
		return err_set(err, -ENOMEM, "counters: no memory");
	for (size_t i = 0; !r && i < self->counting.count; i++) {
		r = programs_number(self->programs, self->counting.processes[i].pid,
				    &self->numbers[i], err);
		for (size_t k = 0; !r && k < self->events.count; k++) {
			if (is_refused(self, i, k))
				reason_add(self, i, k);
			else
				r = metric_make(self, i, k, err);
		}
	}
	return r;
}

static int window_write(struct cpu_windows *self, const struct cpu_metric *metric,
			const struct count *count, struct err *err)
{
	const struct recorded_window window = {
		.metric = metric->facts.number,
		.flags = (count_has_value(count) ? 0u : WINDOW_MISSING) |
			 (count->status == COUNT_SCALED ? WINDOW_ESTIMATED : 0u),
		.begin_ns = self->counting.interval_begin_ns,
		.end_ns = self->counting.now_ns,
		.value = count_has_value(count) ? (double)count->value : 0,
	};

	if (self->options.observe)
		self->options.observe(self->options.context, &metric->facts, &window);
	return window_batch_add(&self->batch, &window, err);
}

/* If the process has executed another program, later windows belong to that one. */
static int process_renew(struct cpu_windows *self, size_t process, struct err *err)
{
	uint32_t number;
	int r = 0;

	if (!programs_find(self->programs, self->counting.processes[process].pid, &number) ||
	    number == self->numbers[process])
		return 0;
	self->numbers[process] = number;
	for (size_t i = 0; !r && i < self->events.count; i++)
		if (!is_refused(self, process, i))
			r = metric_make(self, process, i, err);
	return r;
}

static int process_write(struct cpu_windows *self, size_t process, struct err *err)
{
	struct counted_subject subject;
	int r = 0;

	if (self->is_over[process])
		return 0;
	counting_whole(&self->counting, &self->counting.processes[process], /* is_interval */ true,
		       &subject);
	for (size_t i = 0; !r && i < self->events.count; i++)
		if (!is_refused(self, process, i))
			r = window_write(self, metric_of(self, process, i), &subject.counts[i],
					 err);
	self->is_over[process] = subject.has_ended;
	return r ? r : process_renew(self, process, err);
}

static int windows_end(struct cpu_windows *self, struct err *err)
{
	int r = 0;

	counting_read(&self->counting);
	for (size_t i = 0; !r && i < self->counting.count; i++)
		r = process_write(self, i, err);
	counting_turn(&self->counting);
	return r;
}

static void *windows_run(void *argument)
{
	struct cpu_windows *self = argument;
	uint64_t next_ns = self->counting.begin_ns + self->options.interval_ns;
	struct err err = { 0 };

	while (worker_sleep_until(&self->worker, next_ns)) {
		if (windows_end(self, &err)) {
			worker_lock(&self->worker);
			self->failure = err;
			worker_unlock(&self->worker);
			break;
		}
		if (!counting_find_alive(&self->counting))
			break;
		while (next_ns <= now_ns()) /* a late window, not a lost one */
			next_ns += self->options.interval_ns;
	}
	return NULL;
}

int cpu_windows_start(struct cpu_windows *self, const pid_t *pids, size_t count, bool has_children,
		      struct err *err)
{
	const struct counting_options options = { .events = &self->events,
						  .pids = pids,
						  .pid_count = count,
						  .has_children = has_children };
	int r = counting_open(&self->counting, &options, err);

	if (r)
		return err_while(err, "--counters");
	self->is_open = true;
	r = metrics_make(self, err);
	if (!r) {
		counting_start(&self->counting);
		r = worker_start(&self->worker, windows_run, self);
		if (r)
			err_set(err, r, "counters: no thread: %s", strerror(-r));
	}
	if (r)
		counting_end(self);
	return r;
}

int cpu_windows_check(struct cpu_windows *self, struct err *err)
{
	return worker_check(&self->worker, &self->failure, err);
}

int cpu_windows_pause(struct cpu_windows *self, struct err *err)
{
	int r;

	worker_stop(&self->worker);
	r = cpu_windows_check(self, err);
	if (self->is_open && !r) {
		counting_stop(&self->counting);
		r = windows_end(self, err);
	}
	if (!r)
		r = window_batch_flush(&self->batch, err);
	counting_end(self);
	return r;
}
