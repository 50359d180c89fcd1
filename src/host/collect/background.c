/*
 * The thread that drains while the target runs.  Its pauses adapt: none while a ring is half full,
 * and never so long that an empty ring could fill.
 */
#include <string.h>

#include "host/collect/collector.h"
#include "host/core/clock.h"

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
			worker_lock(&self->worker);
			self->failure = err;
			worker_unlock(&self->worker);
			return NULL;
		}
		pause_ns = next_pause(self, pause_ns, records);
	} while (worker_sleep_until(&self->worker, pause_ns ? now_ns() + pause_ns : 0));
	return NULL;
}

int collector_start(struct collector *self, struct err *err)
{
	int r = worker_start(&self->worker, background_run, self);

	return r ? err_set(err, r, "start the collector's thread: %s", strerror(-r)) : 0;
}

void collector_stop(struct collector *self)
{
	worker_stop(&self->worker);
}

int collector_check(struct collector *self, struct err *err)
{
	return worker_check(&self->worker, &self->failure, err);
}
