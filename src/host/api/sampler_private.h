/*
 * Private to the C API's samplers: sampler.c has the API's functions, sampler_life.c starts and
 * stops, sampler_keep.c makes samples that callers can read.
 *
 * Three threads meet here: the caller's, the sampling thread, and the one that calls back.  The
 * sampling thread never waits for the third: the ring is between them.
 */
#pragma once

#include "host/api/api.h"
#include "host/api/sample_ring.h"
#include "host/api/thread_names.h"
#include "host/recorder/recorder.h"

struct limpet_sampler {
	pid_t pid;
	uint64_t start_tick;
	struct sampling_options options;
	char *sampler_name, *path;
	limpet_sample_visitor *on_sample;
	void *context;
	struct sample_ring ring;

	/* Used by the sampling thread; the names also by threads that read samples. */
	struct thread_names thread_names;
	struct stack_names names;
	uint64_t followed_ns;

	pthread_mutex_t turn;      /* serializes start and stop */
	struct recorder *recorder; /* with a path */
	bool is_started, is_recorded;

	pthread_t teller; /* calls back */
	bool has_teller;
	pid_t teller_tid; /* 0 while there is none; atomic */

	pthread_mutex_t lock; /* guards what follows; never held for long */
	unsigned rate_hz;
	struct sampling *sampling;
	struct sampling_totals totals; /* when there is none any more */
	char reasons[sizeof(((struct limpet_sampler_status *)0)->reasons)];
};

/* The listener of the sampling. */
int sampler_keep(void *context, const struct sample *sample, struct space *space);

/* The thread that calls back, if there is a callback; it delivers all kept samples before it
 * ends. */
int sampler_start_teller(struct limpet_sampler *self, struct err *err) MUST_CHECK;
void sampler_end_teller(struct limpet_sampler *self);

int sampler_check_rate(unsigned hz, struct err *err) MUST_CHECK;
/* Callers hold `turn`. */
int sampler_start(struct limpet_sampler *self, struct err *err) MUST_CHECK;
int sampler_stop(struct limpet_sampler *self, struct err *err) MUST_CHECK;
int sampler_change_rate(struct limpet_sampler *self, unsigned hz, struct err *err) MUST_CHECK;
