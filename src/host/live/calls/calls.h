/*
 * The calls of a session, as a model and as spans.  A recording's are complete at once; the file of
 * a live session is followed while it grows, on a thread of its own, and never for more than a
 * small part of the time.
 */
#pragma once

#include "host/live/calls/spans.h"
#include "host/live/store/store.h"
#include "host/model/calls/call_names.h"

#include <pthread.h>

struct source;

/* Calls as samples: each has a stack and a weight, so that every view of samples can show calls,
 * too. */
enum call_weight {
	CALLS_ALLOC,  /* bytes that were requested */
	CALLS_DEVICE, /* time of work, below the call that caused it */
	CALLS_LOCK,   /* time of the calls themselves */
	CALLS_IO,
	CALL_WEIGHTS,
};

/* Where they come from. */
struct calls_read {
	struct model *model;
	const struct spans *spans; /* its; CALLS_DEVICE only */
	struct call_names *names;
	uint64_t origin_ns; /* CLOCK_MONOTONIC of time 0 of the spans */
};

/* Makes the samples of calls, in order.  Their model has samples of its own, and the threads of the
 * calls; its last thread stands for none.  0 or -ENOMEM. */
int call_samples_make(struct store *ret, const struct calls_read *calls,
		      enum call_weight weight) MUST_CHECK;
void call_samples_done(struct store *samples);

/* Zero is none. */
struct calls {
	struct spans spans;
	struct store samples[CALL_WEIGHTS]; /* those with a model are made */
	uint64_t bytes;                     /* of the file, when they were read */
	uint64_t origin_ns;                 /* CLOCK_MONOTONIC of the session's time 0 */
	uint32_t domains;                   /* bits of those that the model has functions of */
	struct call_names names;
	struct err err; /* of the last complete reading */
	/* Guards the model while it is followed. */
	pthread_mutex_t lock;
	struct model *model;    /* NULL: nothing was read */
	bool is_borrowed;       /* it is another's, and complete */
	uint64_t device, inode; /* of the file that the model reads */
	/* The thread that reads, and what it has read. */
	pthread_t reading;
	bool is_reading;
	_Atomic bool is_read;
	int file;
	struct calls_read_state {
		struct spans spans;
		uint64_t bytes, began_ns, took_ns;
		uint32_t domains;
		struct err err;
	} next;
	uint64_t rests_until_ns;
};

/* Those of a recording, whose model stays the caller's. */
void calls_borrow(struct calls *calls, struct model *model, uint64_t origin_ns);
/* Loads the spans of a recording, once.  0 or -ENOMEM. */
int calls_load(struct calls *calls) MUST_CHECK;

/* Shows a completed reading of a live session, and begins another if its file has grown. */
void calls_follow(struct calls *calls, const struct source *source, uint64_t bytes);

/* The model, which nothing changes until calls_release(); NULL: nothing was read, and nothing is to
 * be released. */
struct model *calls_hold(struct calls *calls);
void calls_release(struct calls *calls);

/* The calls that are shown as samples, made on first use; NULL: no memory.  Without calls it has no
 * model.  Invalid after calls_follow(). */
struct store *calls_samples(struct calls *calls, enum call_weight weight) MUST_CHECK;

/* CLOCK_BOOTTIME of the session's time 0, as calls of the model have it; 0 without one. */
uint64_t calls_origin_ns(const struct calls *calls, const struct model *model);

/* Waits for the thread; frees everything. */
void calls_done(struct calls *calls);
