/*
 * Waits, records, and repeats that.
 */
#include "host/recorder/record_job.h"

#include "host/core/clock.h"

#include <string.h>

#define GLANCE_NS 100000000ull
#define FOLLOW_NS 1000000ull

static uint64_t later_ns(uint64_t begin_ns, uint64_t time_ns)
{
	return time_ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + time_ns;
}

static enum ending job_wait(struct record_job *self, uint64_t time_ns)
{
	const struct job_watcher *watcher = &self->watcher;
	struct job_wait wait = { recorder_end_fd(self->recorder), recorder_socket(self->recorder),
				 time_ns };
	enum ending ending = watcher->wait(watcher->context, &wait);

	if (ending == ENDING_DURATION && wait.end < 0 && recorder_has_ended(self->recorder))
		ending = ENDING_EXIT;
	if (watcher->looked)
		watcher->looked(watcher->context);
	return ending;
}

/* Waits for this time, or until an event ends the job. */
static int job_stay(struct record_job *self, uint64_t time_ns, struct err *err)
{
	uint64_t end_ns = later_ns(now_ns(), time_ns);
	uint64_t limit_ns = later_ns(self->begin_ns, self->times.duration_ns);

	while (!self->is_over && now_ns() < end_ns) {
		int r = recorder_check(self->recorder, err);
		uint64_t glance_ns = recorder_is_following(self->recorder) ? FOLLOW_NS : GLANCE_NS;
		uint64_t slice_ns = MIN(glance_ns, MIN(end_ns, limit_ns) - now_ns());

		self->is_full = self->times.max_bytes &&
				recorder_file_bytes(self->recorder) >= self->times.max_bytes;
		if (r || self->is_full || now_ns() >= limit_ns) {
			self->is_over = true;
			return r;
		}
		self->ending = job_wait(self, slice_ns);
		self->is_over = self->ending != ENDING_DURATION;
	}
	return 0;
}

/* For a program that limpet started, the duration counts from here. */
static int job_get_ready(struct record_job *self, struct err *err)
{
	const struct job_watcher *watcher = &self->watcher;
	int r;

	if (self->is_ready)
		return 0;
	self->is_ready = true;
	r = watcher->ready ? watcher->ready(watcher->context, err) : 0;
	self->begin_ns = now_ns();
	return r;
}

/* The time until the first sample or call can arrive does not count for the duration.  A process
 * that has ended since the last period counts as ended, not as a failure. */
static int job_attach(struct record_job *self, struct err *err)
{
	uint64_t before_ns = now_ns();
	struct err second = { 0 };
	int r = recorder_begin(self->recorder, err);

	self->begin_ns += now_ns() - before_ns;
	if (!r) {
		r = job_get_ready(self, err);
		if (r)
			(void)!recorder_pause(self->recorder, self->unload, &second);
		return r;
	}
	if (!self->is_ready || !recorder_has_ended(self->recorder))
		return r;
	memset(err, 0, sizeof(*err));
	self->ending = ENDING_EXIT;
	self->is_over = true;
	return 0;
}

/* One period: attach, wait, detach. */
static int job_record_once(struct record_job *self, uint64_t time_ns, struct err *err)
{
	const struct job_watcher *watcher = &self->watcher;
	struct err second = { 0 };
	int left_well, r = job_attach(self, err);

	if (r || self->is_over)
		return r;
	if (!self->turns++ && watcher->begun)
		watcher->begun(watcher->context);
	r = job_stay(self, time_ns, err);
	left_well = recorder_pause(self->recorder, self->unload, r ? &second : err);
	return r ? r : left_well;
}

static int job_record_period(struct record_job *self, const struct period *period, struct err *err)
{
	int r = 0;

	for (uint64_t i = 0; !r && !self->is_over && (!period->repeat || i < period->repeat); i++) {
		if (period->delay_ns) {
			r = job_get_ready(self, err);
			if (!r)
				r = job_stay(self, period->delay_ns, err);
		}
		if (!r && !self->is_over)
			r = job_record_once(self, period->time_ns, err);
	}
	return r;
}

int record_job_run(struct record_job *self, struct err *err)
{
	const struct period always = PERIOD_ALWAYS;
	int r = 0;

	self->ending = ENDING_DURATION;
	self->begin_ns = now_ns();
	if (!self->times.period_count)
		return job_record_period(self, &always, err);
	for (size_t i = 0; !r && !self->is_over && i < self->times.period_count; i++)
		r = job_record_period(self, &self->times.periods[i], err);
	return r;
}
