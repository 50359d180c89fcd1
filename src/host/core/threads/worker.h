/*
 * A thread of limpet's with what its owner shares with it: a lock, a condition, and a request to
 * end.  The thread blocks all signals.
 */
#pragma once

#include "host/core/err.h"

#include <pthread.h>
#include <stdbool.h>

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;   /* guards what follows, and what the owner adds */
	pthread_cond_t changed; /* of anything under the lock; by CLOCK_MONOTONIC */
	bool is_running, is_stopping;
};

/* Before anything else. */
void worker_init(struct worker *worker);
/* May follow a stop.  0 or -errno. */
int worker_start(struct worker *worker, void *(*run)(void *argument), void *argument) MUST_CHECK;
/* Requests its end and waits for it; does nothing if it does not run. */
void worker_stop(struct worker *worker);
/* Of one that does not run. */
void worker_done(struct worker *worker);

void worker_lock(struct worker *worker);
void worker_unlock(struct worker *worker);

/* Call these three with the lock held.  A wait may end spuriously: check its condition again. */
void worker_wait(struct worker *worker);
/* False at that time of CLOCK_MONOTONIC. */
bool worker_wait_until(struct worker *worker, uint64_t until_ns);
void worker_notify(struct worker *worker);

/* How it ended early, in *failure, which is under the lock: code 0 where it did not. */
int worker_check(struct worker *worker, const struct err *failure, struct err *err);

/* Sleeps until that time, or a request to end.  False: it is requested. */
bool worker_sleep_until(struct worker *worker, uint64_t until_ns);
