/*
 * A thread of ours with what its owner shares with it: a lock, a condition, and the wish that it
 * ends.  It takes no signals.
 */
#pragma once

#include "host/core/err.h"

#include <pthread.h>
#include <stdbool.h>

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;   /* of what follows, and of what the owner puts under it */
	pthread_cond_t changed; /* of anything under the lock; by CLOCK_MONOTONIC */
	bool is_running, is_stopping;
};

/* Before anything else. */
void worker_init(struct worker *worker);
/* May follow a stop.  0 or -errno. */
int worker_start(struct worker *worker, void *(*run)(void *argument), void *argument) MUST_CHECK;
/* Asks it to end, and waits until it has; nothing where it does not run. */
void worker_stop(struct worker *worker);
/* Of one that does not run. */
void worker_done(struct worker *worker);

void worker_lock(struct worker *worker);
void worker_unlock(struct worker *worker);

/* These three under the lock.  A wait may end for no reason, so ask again what it was for. */
void worker_wait(struct worker *worker);
/* False when that time of CLOCK_MONOTONIC has come. */
bool worker_wait_until(struct worker *worker, uint64_t until_ns);
void worker_notify(struct worker *worker);

/* How it ended early, in *failure, which is under the lock: code 0 where it did not. */
int worker_check(struct worker *worker, const struct err *failure, struct err *err);

/* Sleeps until that time, or until it is asked to end.  False: it is. */
bool worker_sleep_until(struct worker *worker, uint64_t until_ns);
