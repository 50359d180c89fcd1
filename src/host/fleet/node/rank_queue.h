/*
 * Works on each rank, one after the other, on a thread of its own.  Reading a hanging process may
 * hang as well: an item that takes too long is left to its thread, and another thread goes on with
 * the next rank.
 */
#pragma once

#include "shared/base/macros.h"

#include <pthread.h>
#include <stdbool.h>

struct rank_queue;

/* Works on the rank with this index.  Its result counts only if rank_queue_finish() returns
 * true. */
typedef void rank_work(void *context, struct rank_queue *queue, size_t index);

enum rank_phase { PHASE_WAITING, PHASE_WORKING, PHASE_FINISHED, PHASE_STUCK };

struct rank_item {
	enum rank_phase phase;
	uint64_t begin_ns;
};

struct rank_queue {
	pthread_mutex_t lock; /* guards what follows */
	rank_work *work;
	void *context;
	struct rank_item *items;
	size_t count, next, left; /* left: neither finished nor stuck */
	uint64_t limit_ns;        /* for one rank */
	int changed;              /* an eventfd: an item has finished */
	bool is_stopping;
};

/* 0 or -errno.  Never freed, as a thread may be stuck in it: for a process that ends soon. */
int rank_queue_start(struct rank_queue **ret, size_t count, uint64_t limit_ns, rank_work *work,
		     void *context) MUST_CHECK;

/* Called by the work at its end: false if it came too late.  After true the lock is held, so that
 * the result is stored as a whole; rank_queue_release() releases it. */
bool rank_queue_finish(struct rank_queue *queue, size_t index);
void rank_queue_release(struct rank_queue *queue);

/* Called now and then: gives up items that take too long.  Returns how many are left. */
size_t rank_queue_look(struct rank_queue *queue);
/* Begins no more items. */
void rank_queue_stop(struct rank_queue *queue);
/* After the last: did it take too long, or never begin? */
bool rank_queue_is_missing(struct rank_queue *queue, size_t index);
