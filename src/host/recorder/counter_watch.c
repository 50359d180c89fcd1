/*
 * Adds windows up as the recorder's threads deliver them.
 */
#include "host/recorder/counter_watch.h"

#include "host/core/room.h"
#include "host/core/text/print.h"
#include "host/recorder/record_job.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counter_watch {
	struct background_job *job;
	pid_t pid;
	char path[64];        /* of the recording */
	pthread_mutex_t lock; /* guards the rest */
	struct watched_counter *rows;
	size_t count, room;
	bool is_short; /* out of memory */
};

/* Sorts processes before devices, and devices by their order. */
static uint64_t row_order(uint64_t device)
{
	return device == METRIC_NO_DEVICE ? 0 : device + 1;
}

static struct watched_counter *row_find(struct counter_watch *self,
					const struct recorded_metric *metric)
{
	uint64_t order = row_order(metric->device);
	struct watched_counter *row;
	size_t at;

	for (size_t i = 0; i < self->count; i++)
		if (self->rows[i].metric == metric->number)
			return &self->rows[i];
	if (make_room(&self->rows, self->count, &self->room, sizeof(*self->rows)))
		return NULL;
	for (at = self->count++; at && row_order(self->rows[at - 1].device) > order; at--)
		self->rows[at] = self->rows[at - 1];
	row = &self->rows[at];
	*row = (struct watched_counter){ .metric = metric->number,
					 .device = metric->device,
					 .is_level = metric->form == METRIC_LEVEL,
					 .is_time = !strcmp(metric->unit, "ns") };
	print_into(row->name, sizeof(row->name), "%s", metric->name);
	print_into(row->subject, sizeof(row->subject), "%s", metric->subject);
	print_into(row->unit, sizeof(row->unit), "%s", metric->unit);
	return row;
}

static void total_add(struct counter_total *total, bool is_level,
		      const struct recorded_window *window)
{
	uint64_t length_ns = window->end_ns - window->begin_ns;

	if (window->flags & WINDOW_MISSING)
		return;
	total->sum += is_level ? window->value * (double)length_ns : window->value;
	total->time_ns += length_ns;
}

static void window_add(void *context, const struct recorded_metric *metric,
		       const struct recorded_window *window)
{
	struct counter_watch *self = context;
	struct watched_counter *row;

	pthread_mutex_lock(&self->lock);
	row = row_find(self, metric);
	self->is_short |= !row;
	if (row) {
		row->latest = (struct counter_total){ 0 };
		total_add(&row->latest, row->is_level, window);
		total_add(&row->all, row->is_level, window);
		total_add(&row->interval, row->is_level, window);
	}
	pthread_mutex_unlock(&self->lock);
}

/* The path cannot be unlinked. */
static int job_start(struct counter_watch *self, const struct counter_choice *choice,
		     const char *version, struct err *err)
{
	struct background_options options = {
		.recorder = { .pids = &self->pid,
			      .pid_count = 1,
			      .trace.windows = choice->has_devices ? choice->devices.words : NULL,
			      .windows = &choice->options,
			      .session.is_strict = true,
			      .is_path_new = true,
			      .new_file = open("/dev/null", O_WRONLY | O_CLOEXEC),
			      .path = self->path,
			      .version = version },
		.times.duration_ns = UINT64_MAX,
	};

	if (options.recorder.new_file < 0)
		return err_set(err, -errno, "counters: /dev/null: %s", strerror(errno));
	snprintf(self->path, sizeof(self->path), "/proc/self/fd/%d", options.recorder.new_file);
	return background_job_start(&self->job, &options, err);
}

int counter_watch_start(struct counter_watch **ret, struct counter_choice *choice, pid_t pid,
			const char *version, struct err *err)
{
	struct counter_watch *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "counters: no memory");
	pthread_mutex_init(&self->lock, NULL);
	self->pid = pid;
	choice->options.observe = window_add;
	choice->options.context = self;
	r = job_start(self, choice, version, err);
	if (r)
		counter_watch_free(self);
	else
		*ret = self;
	return r;
}

int counter_watch_stop(struct counter_watch *self, struct err *err)
{
	struct background_job *job = self->job;
	struct recorder_outcome outcome;

	self->job = NULL;
	if (job && background_job_stop(job, /* gives_up */ false, &outcome, err))
		return err->code;
	return self->is_short ? err_set(err, -ENOMEM, "counters: no memory") : 0;
}

void counter_watch_free(struct counter_watch *self)
{
	struct err ignored = { 0 };

	if (!self)
		return;
	(void)!counter_watch_stop(self, &ignored);
	pthread_mutex_destroy(&self->lock);
	free(self->rows);
	free(self);
}

void counter_watch_turn(struct counter_watch *self)
{
	pthread_mutex_lock(&self->lock);
	for (size_t i = 0; i < self->count; i++)
		self->rows[i].interval = (struct counter_total){ 0 };
	pthread_mutex_unlock(&self->lock);
}

struct watched_counter *counter_watch_copy(struct counter_watch *self, size_t *ret_count)
{
	struct watched_counter *copy;

	pthread_mutex_lock(&self->lock);
	copy = self->count ? malloc(self->count * sizeof(*copy)) : NULL;
	*ret_count = copy ? self->count : 0;
	if (copy)
		memcpy(copy, self->rows, self->count * sizeof(*copy));
	pthread_mutex_unlock(&self->lock);
	return copy;
}

bool counter_total_rate(const struct watched_counter *counter, const struct counter_total *total,
			double *ret)
{
	if (!total->time_ns)
		return false;
	*ret = total->sum / (double)total->time_ns *
	       (counter->is_level || counter->is_time ? 1 : 1e9);
	return true;
}

const char *watched_counter_unit(const struct watched_counter *counter)
{
	return counter->is_level ? counter->unit : counter->is_time ? "CPUs" : "/s";
}
