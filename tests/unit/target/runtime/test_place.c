/*
 * A thread that ends loses its root and its namespaces one after the other, while its status still
 * calls it alive.  What is read of it meanwhile is its whole place, or an error; never a part that
 * looks like a move to somewhere else.
 */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/runtime/identity.h"

#define THREADS 200

static atomic_int number;
static atomic_bool may_end;

static void *thread_wait(void *argument)
{
	atomic_store(&number, (int)syscall(SYS_gettid));
	while (!atomic_load(&may_end))
		sched_yield();
	return argument;
}

static pthread_t thread_begin(char *folder, size_t room)
{
	pthread_t thread;

	atomic_store(&number, 0);
	atomic_store(&may_end, false);
	assert_int_equal(pthread_create(&thread, NULL, thread_wait, NULL), 0);
	while (!atomic_load(&number))
		sched_yield();
	snprintf(folder, room, "/proc/self/task/%d", atomic_load(&number));
	return thread;
}

static void a_thread_that_lives_is_where_its_process_is(void **state)
{
	struct place own, its;
	char folder[64];
	pthread_t thread = thread_begin(folder, sizeof(folder));

	(void)state;
	assert_int_equal(place_read("/proc/self", &own), 0);
	assert_int_equal(place_read(folder, &its), 0);
	assert_true(place_is_same(&own, &its));
	assert_int_not_equal(own.files[0].inode, 0);
	atomic_store(&may_end, true);
	pthread_join(thread, NULL);
}

static void a_thread_that_ends_is_nowhere_else(void **state)
{
	struct place own, its;
	unsigned elsewhere = 0;

	(void)state;
	assert_int_equal(place_read("/proc/self", &own), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		char folder[64];
		pthread_t thread = thread_begin(folder, sizeof(folder));

		atomic_store(&may_end, true);
		while (!place_read(folder, &its))
			elsewhere += !place_is_same(&own, &its);
		pthread_join(thread, NULL);
	}
	assert_int_equal(elsewhere, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_lives_is_where_its_process_is),
		cmocka_unit_test(a_thread_that_ends_is_nowhere_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
