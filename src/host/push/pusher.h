/*
 * Samples processes without a time limit, and makes a request of the samples since the last one: a
 * profile for each set of labels.  Its memory is bounded.
 */
#pragma once

#include "host/live/source.h"
#include "host/push/format.h"

struct pusher_options {
	struct sampling_options sampling; /* with the processes */
	struct push_labels labels;        /* for all; those of processes are added */
	const struct push_format *format;
};

struct pusher_totals {
	uint64_t collected; /* samples that are in requests */
	uint64_t missed;    /* dropped before, for lack of room */
	uint64_t lost;      /* on their way here */
};

struct pusher;

/* Samples from now on. */
int pusher_open(struct pusher **ret, const struct pusher_options *options,
		struct err *err) MUST_CHECK;
void pusher_free(struct pusher *pusher);

/* True when a request should be made before its time: there is not room for ever. */
bool pusher_is_full(struct pusher *pusher);
/* A request with all samples since the last one; empty if there are none. */
int pusher_collect(struct pusher *pusher, struct bytes *ret, uint64_t *ret_samples,
		   struct err *err) MUST_CHECK;
/* Stops sampling; pending samples can still be collected. */
void pusher_stop(struct pusher *pusher);

void pusher_query(struct pusher *pusher, struct source_facts *ret);
void pusher_totals(struct pusher *pusher, struct pusher_totals *ret);
