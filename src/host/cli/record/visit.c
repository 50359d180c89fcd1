/*
 * limpet record while it goes on: waits for what ends it, and shows how far it is.
 */
#include "host/cli/record/visit.h"

#include "host/cli/record/messages.h"
#include "host/core/clock.h"
#include "host/core/print.h"
#include "host/recording/drops.h"

#include <inttypes.h>
#include <stdio.h>

#define GLANCE_NS 100000000ull
#define FOLLOW_NS 1000000ull

static void show_line(const struct visit *self, uint64_t count, const char *things, uint64_t lost,
		      const char *fate)
{
	uint64_t seconds = (now_ns() - self->begin_ns) / 1000000000u;

	print(stderr,
	      "\r%02" PRIu64 ":%02" PRIu64 "  %" PRIu64 " %s  %" PRIu64 " %s  %" PRIu64 " KiB ",
	      seconds / 60, seconds % 60, count, things, lost, fate,
	      recorder_file_bytes(self->recorder) / 1024);
}

static void show_progress(const struct visit *self)
{
	struct sampling_totals sampled;
	struct collect_totals totals;

	if (!self->shows_progress)
		return;
	if (self->samples) {
		sampling_totals(recorder_sampling(self->recorder), &sampled);
		show_line(self, sampled.counts.samples, "samples", sampled.counts.lost, "lost");
	}
	if (self->traces) {
		recorder_totals(self->recorder, &totals);
		show_line(self, totals.records, "records", drops_sum(totals.drops), "dropped");
	}
}

/* A family ends with its last process. */
static enum ending wait_for(struct visit *self, uint64_t time_ns)
{
	struct sampling *sampling = recorder_sampling(self->recorder);
	bool has_family = sampling && self->sampling.sampler.children;
	enum ending ending;

	if (self->launched)
		return launched_watch(self->launched, recorder_socket(self->recorder), time_ns);
	ending = ending_wait(self->signals, has_family ? -1 : recorder_pidfd(self->recorder),
			     time_ns);
	if (ending == ENDING_DURATION && has_family && sampling_has_ended(sampling))
		return ENDING_EXIT;
	return ending;
}

/* Stays for so long, or until something ends it all. */
static int stay(struct visit *self, uint64_t time_ns, struct err *err)
{
	uint64_t end_ns = time_ns == UINT64_MAX ? UINT64_MAX : now_ns() + time_ns;
	uint64_t limit_ns = self->values->duration_ns == UINT64_MAX
				    ? UINT64_MAX
				    : self->begin_ns + self->values->duration_ns;

	while (!self->is_over && now_ns() < end_ns) {
		int r = recorder_check(self->recorder, err);
		uint64_t glance_ns = recorder_is_following(self->recorder) ? FOLLOW_NS : GLANCE_NS;
		uint64_t slice_ns = MIN(glance_ns, MIN(end_ns, limit_ns) - now_ns());

		self->is_full =
			self->max_bytes && recorder_file_bytes(self->recorder) >= self->max_bytes;
		if (r || self->is_full || now_ns() >= limit_ns) {
			self->is_over = true;
			return r;
		}
		self->ending = wait_for(self, slice_ns);
		self->is_over = self->ending != ENDING_DURATION;
		tell_program(self);
		show_progress(self);
	}
	return 0;
}

/* Its time counts from here. */
static int let_begin(struct visit *self, struct err *err)
{
	if (!self->launched || self->launched->launch.is_let_go)
		return 0;
	self->begin_ns = now_ns();
	return launch_let_go(&self->launched->launch, err);
}

/* What it takes until the first sample or call can come is no part of the duration. */
static int begin_recording(struct visit *self, struct err *err)
{
	uint64_t before_ns = now_ns();
	int r = recorder_begin(self->recorder, err);

	self->begin_ns += now_ns() - before_ns;
	return r;
}

/* One turn of the period: in, stay, out. */
static int record_once(struct visit *self, struct err *err)
{
	struct session_left left = { 0 };
	struct err second = { 0 };
	int r = begin_recording(self, err), left_well;

	if (!r)
		r = let_begin(self, err);
	if (r)
		return r;
	if (!self->period.done++) {
		print_attached(self);
		warn_absent(self);
		if (self->samples)
			samples_explain(recorder_sampling(self->recorder), self->told);
	}
	r = stay(self, self->period.time_ns, err);
	left_well = recorder_pause(self->recorder, self->values->unload, &left, r ? &second : err);
	for (size_t i = 0; i < left.count; i++)
		print(stderr, "warning: stays: %s\n", left.items[i]);
	return r ? r : left_well;
}

int record_visit(struct visit *self, struct err *err)
{
	int r = 0;

	self->begin_ns = now_ns();
	while (!r && !self->is_over && period_goes_on(&self->period)) {
		if (self->period.delay_ns && !(r = let_begin(self, err)))
			r = stay(self, self->period.delay_ns, err);
		if (!r && !self->is_over)
			r = record_once(self, err);
	}
	if (self->shows_progress)
		fputc('\n', stderr);
	return r;
}
