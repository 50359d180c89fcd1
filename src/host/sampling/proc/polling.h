/*
 * What the samplers "read" and "state" share: polling the state of every thread.
 */
#pragma once

#include "host/sampling/followed.h"
#include "host/sampling/proc/thread_times.h"
#include "host/sampling/sampler.h"

#define POLLING_HZ_MAX 50u

struct polling {
	struct sampler base; /* first */
	struct sampler_options options;
	struct followed_set processes;
	struct followed *root; /* the named process; the others are its family */
	struct sampler_counts counts;
	struct thread_times times;
	uint64_t begin_tick; /* in the unit of /proc/PID/stat: later processes are new */
	uint64_t last_ns;    /* the last poll */
	uint64_t next_family_ns;
	bool is_stopped, is_flushed;
	struct sample *sample;
	struct outside_frames outside;
	/* Fills frames, end and flags of self->sample, as far as possible; NULL: never. */
	void (*stack)(struct polling *self, struct followed *process, pid_t tid);
};

int polling_open(struct polling **ret, const struct sampler_kind *kind,
		 const struct sampler_options *options, struct err *err) MUST_CHECK;
int polling_drain(struct sampler *sampler, const struct sampler_listener *listener,
		  struct err *err);
void polling_stop(struct sampler *sampler);
struct sampler_counts polling_counts(const struct sampler *sampler);
void polling_close(struct sampler *sampler);
