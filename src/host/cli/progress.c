/*
 * A thread that waits, and tells the seconds.
 */
#include "host/cli/progress.h"

#include "host/core/clock.h"
#include "host/core/print.h"
#include "host/core/quiet_thread.h"

#include <time.h>
#include <unistd.h>

#define SILENT_S 2u

/* True when that time came; false: the work is over. */
static bool wait_until_second(struct progress *self, uint64_t second)
{
	uint64_t until_ns = self->begin_ns + second * 1000000000u;
	struct timespec until = { (time_t)(until_ns / 1000000000u),
				  (long)(until_ns % 1000000000u) };
	bool is_over;
	int r = 0;

	pthread_mutex_lock(&self->lock);
	while (!self->is_over && !r)
		r = pthread_cond_timedwait(&self->changed, &self->lock, &until);
	is_over = self->is_over;
	pthread_mutex_unlock(&self->lock);
	return !is_over;
}

static void *progress_run(void *argument)
{
	struct progress *self = argument;
	uint64_t second = SILENT_S;

	for (; wait_until_second(self, second); second++)
		print(stderr, "\r%s %.60s: %u s ", self->doing, self->object, (unsigned)second);
	if (second > SILENT_S)
		fputs("\r\033[K", stderr);
	return NULL;
}

void progress_begin(struct progress *ret, const char *doing, const char *object)
{
	pthread_condattr_t monotonic;

	*ret = (struct progress){ .doing = doing,
				  .object = object,
				  .begin_ns = now_ns(),
				  .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&ret->changed, &monotonic);
	ret->is_shown = isatty(STDERR_FILENO) && !quiet_thread(&ret->thread, progress_run, ret);
}

void progress_end(struct progress *self)
{
	if (!self->is_shown)
		return;
	pthread_mutex_lock(&self->lock);
	self->is_over = true;
	pthread_cond_signal(&self->changed);
	pthread_mutex_unlock(&self->lock);
	pthread_join(self->thread, NULL);
	self->is_shown = false;
}
