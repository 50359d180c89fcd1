/*
 * The calls of a session, as a model and as spans.  A recording's are complete at once; the file of
 * a live session is read again while it grows, on a thread of its own, and never for more than a
 * small part of the time.
 */
#pragma once

#include "host/live/calls/call_samples.h"

#include <pthread.h>

struct source;

/* As far as the file was read. */
struct calls_state {
	struct model *model; /* NULL: not at all */
	struct spans spans;
	struct store samples[CALL_WEIGHTS]; /* those with a model are made */
	uint64_t bytes;
};

/* Zero is none. */
struct calls {
	struct calls_state shown, next;
	struct call_names names;
	bool is_borrowed; /* the model is another's */
	pthread_t reading;
	bool is_reading;
	_Atomic bool is_read;
	int file;
	uint64_t origin_ns; /* CLOCK_MONOTONIC of the session's time 0 */
	uint64_t began_ns, took_ns, rests_until_ns;
	struct err err, read_err; /* of the last complete reading; of the present one */
};

/* Those of a recording, whose model stays the caller's. */
void calls_borrow(struct calls *calls, struct model *model, uint64_t origin_ns);
/* Loads the spans of a recording, once.  0 or -ENOMEM. */
int calls_load(struct calls *calls) MUST_CHECK;

/* Shows a completed reading of a live session, and begins another if its file has grown. */
void calls_follow(struct calls *calls, const struct source *source, uint64_t bytes);

/* The calls that are shown as samples, made on first use; NULL: no memory.  Without calls it has no
 * model.  Invalid after calls_follow(). */
struct store *calls_samples(struct calls *calls, enum call_weight weight) MUST_CHECK;

/* CLOCK_BOOTTIME of the session's time 0, as those calls have it. */
uint64_t calls_origin_ns(const struct calls *calls);

/* Waits for the thread; frees everything. */
void calls_done(struct calls *calls);
