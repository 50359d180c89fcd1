/*
 * The calls of a session, as a model and as spans.  A recording's are complete at once; the file of
 * a live session is read again while it grows, on a thread of its own, and never for more than a
 * small part of the time.
 */
#pragma once

#include "host/ui/store/call_samples.h"
#include "host/ui/store/spans.h"

#include <pthread.h>

struct live_job;

/* As far as the file was read. */
struct calls_state {
	struct model *model; /* NULL: not at all */
	struct spans spans;
	struct call_samples samples[UI_CALL_KINDS];
	uint64_t bytes;
};

/* Zero is none. */
struct calls {
	struct calls_state shown, next;
	pthread_t reading;
	bool is_reading;
	_Atomic bool is_read;
	int file;
	uint64_t origin_ns; /* CLOCK_MONOTONIC */
	uint64_t began_ns, took_ns, rests_until_ns;
	struct err err, read_err; /* of the last complete reading; of the present one */
};

/* Shows a completed reading, and begins another if the file has grown.  `origin_ns` is the
 * session's. */
void calls_follow(struct calls *calls, const struct live_job *job, uint64_t bytes,
		  uint64_t origin_ns);
/* Waits for the thread; frees everything. */
void calls_done(struct calls *calls);
