/*
 * Threads with a lock and a condition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/core/clock.h"
#include "host/core/threads/worker.h"

#define LONG_NS 60000000000u /* more than any machine needs for what is waited for here */

struct counting {
	struct worker worker;
	unsigned wanted, done;
};

static void *do_what_is_wanted(void *argument)
{
	struct counting *self = argument;

	worker_lock(&self->worker);
	while (!self->worker.is_stopping || self->done < self->wanted) {
		if (self->done < self->wanted) {
			self->done++;
			worker_notify(&self->worker);
		} else {
			worker_wait(&self->worker);
		}
	}
	worker_unlock(&self->worker);
	return NULL;
}

static void hands_work_over_and_finishes_it(void **state)
{
	struct counting self = { .wanted = 0 };

	(void)state;
	worker_init(&self.worker);
	for (unsigned round = 1; round <= 3; round++) {
		assert_int_equal(worker_start(&self.worker, do_what_is_wanted, &self), 0);
		worker_lock(&self.worker);
		self.wanted += 100;
		worker_notify(&self.worker);
		while (self.done < self.wanted - 50)
			worker_wait(&self.worker);
		worker_unlock(&self.worker);
		worker_stop(&self.worker);
		assert_int_equal(self.done, round * 100);
	}
	worker_stop(&self.worker);
	worker_done(&self.worker);
}

static void *sleep_long(void *argument)
{
	struct worker *self = argument;

	return worker_sleep_until(self, now_ns() + LONG_NS) ? self : NULL;
}

static void wakes_a_sleeper_to_end(void **state)
{
	uint64_t begin_ns = now_ns();
	struct worker self;

	(void)state;
	worker_init(&self);
	assert_int_equal(worker_start(&self, sleep_long, &self), 0);
	worker_stop(&self);
	worker_done(&self);
	assert_true(now_ns() - begin_ns < LONG_NS);
}

static void sleeps_until_its_time(void **state)
{
	uint64_t until_ns = now_ns() + 1000000;
	struct worker self;

	(void)state;
	worker_init(&self);
	assert_true(worker_sleep_until(&self, until_ns));
	assert_true(now_ns() >= until_ns);
	worker_done(&self);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_work_over_and_finishes_it),
		cmocka_unit_test(wakes_a_sleeper_to_end),
		cmocka_unit_test(sleeps_until_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
