/*
 * Reads the counters of processes at an interval.
 */
#include "host/recorder/windows/windows.h"

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

struct cpu_process {
	uint32_t number; /* in the recording */
	bool is_over;    /* its last window is written */
};

struct cpu_windows {
	struct programs *programs;
	struct counter_events events;
	struct counting counting;
	bool is_open;
	struct cpu_metric *metrics; /* all events of each process; by index */
	struct cpu_process *processes;
	struct window_batch batch;
	char reasons[REASONS_MAX];

	struct worker worker; /* its lock guards what follows */
	struct err failure;
};

int cpu_windows_new(struct cpu_windows **ret, struct programs *programs,
		    const struct window_options *options, struct err *err)
{
	struct cpu_windows *self = calloc(1, sizeof(*self));

	if (!self)
		return err_set(err, -ENOMEM, "counters: no memory");
	worker_init(&self->worker);
	self->programs = programs;
	self->events = *options->events;
	self->batch =
		(struct window_batch){ .recording = programs->recording, .options = *options };
	*ret = self;
	return 0;
}

static void counting_end(struct cpu_windows *self)
{
	if (self->is_open)
		counting_close(&self->counting);
	self->is_open = false;
	free(self->metrics);
	free(self->processes);
	self->metrics = NULL;
	self->processes = NULL;
}

void cpu_windows_free(struct cpu_windows *self)
{
	if (!self)
		return;
	worker_stop(&self->worker);
	worker_done(&self->worker);
	counting_end(self);
	free(self->batch.items);
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

static const struct counter_answer *answer_of(const struct cpu_windows *self, size_t process,
					      size_t event)
{
	return counting_answer(&self->counting, &self->counting.processes[process], event);
}

/* Why an event is not counted; each reason is reported once. */
static void reason_add(struct cpu_windows *self, size_t process, size_t event)
{
	const struct counter_event *item = &self->events.items[event];
	struct counter_machine machine;
	struct counter_reason reason;
	size_t used = strlen(self->reasons);
	char line[512];

	counter_machine_read(&machine);
	if (!counter_reason_find(item, answer_of(self, process, event),
				 &(struct count){ .status = COUNT_NOT_COUNTED }, &machine, &reason))
		return;
	snprintf(line, sizeof(line), "%s: %s%s%s\n", item->name, reason.why,
		 reason.fix[0] ? "; " : "", reason.fix);
	if (!strstr(self->reasons, line) && used + strlen(line) < sizeof(self->reasons))
		memcpy(self->reasons + used, line, strlen(line) + 1);
}

static int metric_make(struct cpu_windows *self, size_t process, size_t event, struct err *err)
{
	const struct counter_event *item = &self->events.items[event];
	struct cpu_metric *metric = metric_of(self, process, event);

	counter_shown_name(item, answer_of(self, process, event), metric->name);
	metric->facts = (struct recorded_metric){ .process = self->processes[process].number,
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
	self->processes = calloc(self->counting.count, sizeof(*self->processes));
	if (!self->metrics || !self->processes)
		return err_set(err, -ENOMEM, "counters: no memory");
	for (size_t i = 0; !r && i < self->counting.count; i++) {
		r = programs_number(self->programs, self->counting.processes[i].pid,
				    &self->processes[i].number, err);
		for (size_t k = 0; !r && k < self->events.count; k++) {
			if (answer_of(self, i, k)->refusal)
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

	return window_batch_add(&self->batch, &metric->facts, &window, err);
}

/* If the process has executed another program, later windows belong to that one. */
static int process_renew(struct cpu_windows *self, size_t process, struct err *err)
{
	uint32_t number;
	int r = 0;

	if (!programs_find(self->programs, self->counting.processes[process].pid, &number) ||
	    number == self->processes[process].number)
		return 0;
	self->processes[process].number = number;
	for (size_t i = 0; !r && i < self->events.count; i++)
		if (!answer_of(self, process, i)->refusal)
			r = metric_make(self, process, i, err);
	return r;
}

static int process_write(struct cpu_windows *self, size_t process, struct err *err)
{
	struct counted_subject subject;
	int r = 0;

	if (self->processes[process].is_over)
		return 0;
	counting_whole(&self->counting, &self->counting.processes[process], /* is_interval */ true,
		       &subject);
	for (size_t i = 0; !r && i < self->events.count; i++)
		if (!answer_of(self, process, i)->refusal)
			r = window_write(self, metric_of(self, process, i), &subject.counts[i],
					 err);
	self->processes[process].is_over = subject.has_ended;
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
	uint64_t interval_ns = self->batch.options.interval_ns;
	uint64_t next_ns = self->counting.begin_ns + interval_ns;
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
			next_ns += interval_ns;
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
