/*
 * Threads with a lock and a condition.
 */
#include "host/core/threads/worker.h"

#include "host/core/threads/quiet_thread.h"

#include <time.h>

void worker_init(struct worker *worker)
{
	pthread_condattr_t attributes;

	*worker = (struct worker){ .is_running = false };
	pthread_mutex_init(&worker->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

int worker_start(struct worker *worker, void *(*run)(void *argument), void *argument)
{
	int r;

	worker->is_stopping = false;
	r = quiet_thread(&worker->thread, run, argument);
	worker->is_running = !r;
	return r;
}

void worker_stop(struct worker *worker)
{
	if (!worker->is_running)
		return;
	worker_lock(worker);
	worker->is_stopping = true;
	worker_notify(worker);
	worker_unlock(worker);
	pthread_join(worker->thread, NULL);
	worker->is_running = false;
}

void worker_done(struct worker *worker)
{
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
}

void worker_lock(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
}

void worker_unlock(struct worker *worker)
{
	pthread_mutex_unlock(&worker->lock);
}

void worker_wait(struct worker *worker)
{
	pthread_cond_wait(&worker->changed, &worker->lock);
}

bool worker_wait_until(struct worker *worker, uint64_t until_ns)
{
	struct timespec until = { (time_t)(until_ns / 1000000000u),
				  (long)(until_ns % 1000000000u) };

	return !pthread_cond_timedwait(&worker->changed, &worker->lock, &until);
}

void worker_notify(struct worker *worker)
{
	pthread_cond_broadcast(&worker->changed);
}

int worker_check(struct worker *worker, const struct err *failure, struct err *err)
{
	int r;

	worker_lock(worker);
	r = failure->code;
	if (r)
		*err = *failure;
	worker_unlock(worker);
	return r;
}

bool worker_sleep_until(struct worker *worker, uint64_t until_ns)
{
	bool goes_on;

	worker_lock(worker);
	while (!worker->is_stopping && worker_wait_until(worker, until_ns))
		;
	goes_on = !worker->is_stopping;
	worker_unlock(worker);
	return goes_on;
}
