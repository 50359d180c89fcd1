/*
 * Forks and our work take turns: the handlers of fork are played by threads that call them.
 */
#include "unit.h"

#include "target/runtime/fork_turn.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define FORKERS    4
#define WORKS      200
#define NS_PER_S   1000000000ull
#define NEWER_LIBC "2.36"
#define OLDER_LIBC "2.31"

static struct fork_turn turn;
static atomic_uint begun, ended; /* forks */
static atomic_bool is_over;
static atomic_int in_kernel; /* forks between their handlers */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void open_for(const char *version)
{
	turn = (struct fork_turn){ .may_call = 1 };
	fork_turn_open(&turn, version, /* is_alone */ true);
	begun = ended = 0;
	is_over = false;
	in_kernel = 0;
}

static int set_up(void **state)
{
	(void)state;
	open_for(NEWER_LIBC);
	return 0;
}

static void *fork_once(void *unused)
{
	begun++;
	fork_turn_fork_begin(&turn);
	ended++;
	fork_turn_fork_end(&turn);
	return unused;
}

/* How long one took that began while we were at work. */
static uint64_t fork_for_ns(void)
{
	uint64_t begin_ns = now_ns();
	pthread_t thread;

	assert_false(pthread_create(&thread, NULL, fork_once, NULL));
	pthread_join(thread, NULL);
	return now_ns() - begin_ns;
}

static void a_fork_waits_for_our_work(void **state)
{
	struct fork_work work = fork_turn_begin(&turn);
	pthread_t thread;

	(void)state;
	assert_false(pthread_create(&thread, NULL, fork_once, NULL));
	while (!begun)
		usleep(1000);
	usleep(200000);
	assert_int_equal(ended, 0);
	fork_turn_end(&turn, work);
	pthread_join(thread, NULL);
	assert_true(fork_turn_is_idle(&turn));
	assert_int_equal(turn.forking + turn.waiting, 0);
}

static void all_forks_together_wait_for_one_work_once(void **state)
{
	struct fork_work work = fork_turn_begin(&turn);

	(void)state;
	assert_true(fork_for_ns() >= NS_PER_S * 9 / 10);
	assert_true(fork_for_ns() < NS_PER_S * 9 / 10);
	fork_turn_end(&turn, work);
	assert_true(fork_turn_is_idle(&turn));
}

static void a_fork_waits_longer_where_a_lock_is_held(void **state)
{
	struct fork_work work = fork_turn_begin(&turn);
	pthread_t thread;

	(void)state;
	fork_turn_hold(&turn);
	assert_false(pthread_create(&thread, NULL, fork_once, NULL));
	usleep(1500000);
	assert_int_equal(ended, 0);
	fork_turn_release(&turn);
	fork_turn_end(&turn, work);
	pthread_join(thread, NULL);
}

static void *work_once(void *unused)
{
	struct fork_work work = fork_turn_begin(&turn);

	assert_int_equal(turn.forking, 0);
	fork_turn_end(&turn, work);
	return unused;
}

static void work_waits_for_a_fork(void **state)
{
	pthread_t thread;

	(void)state;
	fork_turn_fork_begin(&turn);
	assert_false(pthread_create(&thread, NULL, work_once, NULL));
	usleep(200000);
	assert_false(fork_turn_is_idle(&turn));
	fork_turn_fork_end(&turn);
	pthread_join(thread, NULL);
}

/* A constructor of a tool's that forks; a signal handler that does, in a call of ours. */
static void a_fork_inside_of_work_waits_for_nobody(void **state)
{
	struct fork_work work = fork_turn_begin(&turn);
	uint64_t begin_ns = now_ns();

	(void)state;
	fork_turn_fork_begin(&turn);
	assert_true(now_ns() - begin_ns < NS_PER_S / 2);
	fork_turn_forget(&turn); /* as its child does */
	fork_turn_end(&turn, work);
	assert_true(fork_turn_is_idle(&turn));
}

static void work_inside_of_work_is_part_of_it(void **state)
{
	struct fork_work outer = fork_turn_begin(&turn), inner = fork_turn_begin(&turn);

	(void)state;
	fork_turn_end(&turn, inner);
	assert_false(fork_turn_is_idle(&turn));
	fork_turn_end(&turn, outer);
	assert_true(fork_turn_is_idle(&turn));
}

static void *fork_on(void *unused)
{
	while (!is_over) {
		fork_turn_fork_begin(&turn);
		in_kernel++;
		usleep(300);
		in_kernel--;
		fork_turn_fork_end(&turn);
		ended++;
	}
	return unused;
}

static void a_storm_of_forks_and_one_of_works(void **state)
{
	pthread_t threads[FORKERS];
	unsigned met = 0;

	(void)state;
	for (unsigned i = 0; i < FORKERS; i++)
		assert_false(pthread_create(&threads[i], NULL, fork_on, NULL));
	for (unsigned i = 0; i < WORKS || ended < FORKERS; i++) { /* both go on */
		struct fork_work work = fork_turn_begin(&turn);

		met += in_kernel != 0;
		fork_turn_end(&turn, work);
	}
	is_over = true;
	for (unsigned i = 0; i < FORKERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(met, 0);
	assert_int_equal(turn.forking + turn.waiting, 0);
}

/* Its filter may kill for the calls by which others wait. */
static void who_may_not_call_the_kernel_waits_without(void **state)
{
	struct fork_work work = fork_turn_begin(&turn);

	(void)state;
	turn.may_call = 0;
	fork_for_ns();
	assert_int_equal(ended, 1);
	assert_true(turn.workers[work.slot] < 0);
	fork_turn_end(&turn, work);
}

/* Before glibc 2.36 a fork that waits holds the lock that we are about to want. */
static void forks_with_the_lock_of_handlers_are_let_go(void **state)
{
	struct fork_work work;

	(void)state;
	open_for(OLDER_LIBC);
	work = fork_turn_begin(&turn);
	fork_turn_pass(&turn, work);
	assert_true(fork_for_ns() < NS_PER_S * 9 / 10);
	fork_turn_end(&turn, work);
	open_for(NEWER_LIBC);
	work = fork_turn_begin(&turn);
	fork_turn_pass(&turn, work);
	assert_true(fork_for_ns() >= NS_PER_S * 9 / 10);
	fork_turn_end(&turn, work);
}

/* One that libc knows not of: no handler has run in it. */
static void a_child_forgets_its_parents_work(void **state)
{
	(void)state;
	turn.process++;
	turn.workers[3] = 4711;
	turn.forking = 2;
	fork_turn_end(&turn, fork_turn_begin(&turn));
	assert_true(fork_turn_is_idle(&turn));
	assert_int_equal(turn.process, getpid());
}

static void threads_of_a_child_do_not_forget_each_other(void **state)
{
	(void)state;
	turn.process++;
	fork_turn_forget(&turn); /* as its handler does */
	turn.workers[3] = 4711;  /* one that has begun since, or is just about to */
	fork_turn_end(&turn, fork_turn_begin(&turn));
	assert_int_equal(turn.workers[3], 4711);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fork_waits_for_our_work),
		TEST(all_forks_together_wait_for_one_work_once),
		TEST(a_fork_waits_longer_where_a_lock_is_held),
		TEST(work_waits_for_a_fork),
		TEST(a_fork_inside_of_work_waits_for_nobody),
		TEST(work_inside_of_work_is_part_of_it),
		TEST(a_storm_of_forks_and_one_of_works),
		TEST(who_may_not_call_the_kernel_waits_without),
		TEST(forks_with_the_lock_of_handlers_are_let_go),
		TEST(a_child_forgets_its_parents_work),
		TEST(threads_of_a_child_do_not_forget_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
