/*
 * What the samplers "read" and "state" share: looking at every thread's state from time to time.
 */
#pragma once

#include "host/sampling/followed.h"
#include "host/sampling/proc/blocked_python.h"
#include "host/sampling/proc/thread_times.h"
#include "host/sampling/sampler.h"

#define POLLING_HZ_MAX 50u

struct polling {
	struct sampler base; /* first */
	struct sampler_options options;
	struct followed_set processes;
	struct followed *root; /* the one that was named; the others are its family */
	struct sampler_counts counts;
	struct thread_times times;
	uint64_t begin_tick; /* of the clock of /proc/PID/stat: who began later is new */
	uint64_t last_ns;    /* when it looked last */
	uint64_t next_family_ns;
	bool is_stopped, is_flushed;
	struct sample *sample;
	struct blocked_python *python; /* NULL: none is read */
	/* Fills frames, end and flags of self->sample, as far as it can; NULL: never. */
	void (*stack)(struct polling *self, struct followed *process, pid_t tid);
};

int polling_open(struct polling **ret, const struct sampler_kind *kind,
		 const struct sampler_options *options, struct err *err) MUST_CHECK;
int polling_drain(struct sampler *sampler, const struct sampler_listener *listener,
		  struct err *err);
void polling_stop(struct sampler *sampler);
struct sampler_counts polling_counts(const struct sampler *sampler);
void polling_close(struct sampler *sampler);
