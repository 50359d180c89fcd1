/*
 * The thread that drains while the target runs.  Its pauses follow what it finds: none while a ring
 * is half full, at most so long that an empty ring cannot fill meanwhile.
 */
#include <string.h>
#include <time.h>

#include "host/collect/collector.h"
#include "host/core/clock.h"
#include "host/core/quiet_thread.h"

#define PAUSE_MIN_NS      1000000u
#define PAUSE_MAX_NS      10000000u
#define FAST_BYTES_PER_US 400u /* ten million records a second from one thread */
#define CLOCK_EVERY_NS    1000000000u

static uint64_t longest_pause(const struct collector *self)
{
	uint64_t fills_ns = self->layout.ring_size / FAST_BYTES_PER_US * 1000;

	return MAX(PAUSE_MIN_NS, MIN(fills_ns, (uint64_t)PAUSE_MAX_NS));
}

static uint64_t next_pause(const struct collector *self, uint64_t pause_ns, long records)
{
	if (self->fullest > self->layout.ring_size / 2)
		return 0;
	return records ? MAX(pause_ns / 2, (uint64_t)PAUSE_MIN_NS)
		       : MIN(MAX(pause_ns, (uint64_t)PAUSE_MIN_NS) * 2, longest_pause(self));
}

/* False when it is time to stop. */
static bool pause_for(struct collector *self, uint64_t pause_ns)
{
	uint64_t until_ns = now_ns() + pause_ns;
	struct timespec until = { (time_t)(until_ns / 1000000000u),
				  (long)(until_ns % 1000000000u) };
	bool goes_on;

	pthread_mutex_lock(&self->lock);
	if (pause_ns && !self->is_asked_to_stop)
		pthread_cond_timedwait(&self->wake, &self->lock, &until);
	goes_on = !self->is_asked_to_stop;
	pthread_mutex_unlock(&self->lock);
	return goes_on;
}

static long background_pass(struct collector *self, uint64_t *clock_ns, struct err *err)
{
	long records = collector_drain(self, err);

	if (records < 0 || self->now_ns - *clock_ns < CLOCK_EVERY_NS)
		return records;
	*clock_ns = self->now_ns;
	return recording_clock(self->recording, err) ? err->code : records;
}

static void *background_run(void *argument)
{
	struct collector *self = argument;
	struct err err = { 0 };
	uint64_t pause_ns = PAUSE_MIN_NS, clock_ns = now_ns();

	do {
		long records = background_pass(self, &clock_ns, &err);

		if (records < 0) {
			pthread_mutex_lock(&self->lock);
			self->failure = err;
			pthread_mutex_unlock(&self->lock);
			return NULL;
		}
		pause_ns = next_pause(self, pause_ns, records);
	} while (pause_for(self, pause_ns));
	return NULL;
}

int collector_start(struct collector *self, struct err *err)
{
	pthread_condattr_t attributes;
	int r;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&self->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	self->is_asked_to_stop = false;
	r = quiet_thread(&self->thread, background_run, self);
	if (r)
		return err_set(err, r, "start the collector's thread: %s", strerror(-r));
	self->is_running = true;
	return 0;
}

void collector_stop(struct collector *self)
{
	if (!self->is_running)
		return;
	pthread_mutex_lock(&self->lock);
	self->is_asked_to_stop = true;
	pthread_cond_signal(&self->wake);
	pthread_mutex_unlock(&self->lock);
	pthread_join(self->thread, NULL);
	pthread_cond_destroy(&self->wake);
	self->is_running = false;
}

int collector_check(struct collector *self, struct err *err)
{
	int r;

	pthread_mutex_lock(&self->lock);
	r = self->failure.code;
	if (r)
		*err = self->failure;
	pthread_mutex_unlock(&self->lock);
	return r;
}
