/*
 * Does something with each rank, one after the other, on a thread of its own.  Reading a process
 * that hangs may hang as well: what takes too long is left to its thread, and another one goes on
 * with the next rank.
 */
#pragma once

#include "shared/base/macros.h"

#include <pthread.h>
#include <stdbool.h>

struct rank_queue;

/* Works on the rank with this index.  What it has found counts only where rank_queue_finish() says
 * true. */
typedef void rank_work(void *context, struct rank_queue *queue, size_t index);

enum rank_phase { PHASE_WAITING, PHASE_WORKING, PHASE_FINISHED, PHASE_STUCK };

struct rank_item {
	enum rank_phase phase;
	uint64_t begin_ns;
};

struct rank_queue {
	pthread_mutex_t lock; /* of what follows */
	rank_work *work;
	void *context;
	struct rank_item *items;
	size_t count, next, left; /* left: neither finished nor stuck */
	uint64_t limit_ns;        /* for one rank */
	int changed;              /* an eventfd: something has finished */
	bool is_stopping;
};

/* 0 or -errno.  Everything of it stays, as a thread may be stuck in it: for a process that ends
 * soon. */
int rank_queue_start(struct rank_queue **ret, size_t count, uint64_t limit_ns, rank_work *work,
		     void *context) MUST_CHECK;

/* In the work, at its end: false where it came too late.  The lock is held after true, so that what
 * was found is put down as a whole; rank_queue_done() releases it. */
bool rank_queue_finish(struct rank_queue *queue, size_t index);
void rank_queue_release(struct rank_queue *queue);

/* Now and then: gives up on what takes too long.  How many are left. */
size_t rank_queue_look(struct rank_queue *queue);
/* No more are begun. */
void rank_queue_stop(struct rank_queue *queue);
/* After the last: did it take too long, or was it never begun? */
bool rank_queue_is_missing(struct rank_queue *queue, size_t index);
