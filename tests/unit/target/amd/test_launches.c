/*
 * Which call caused which command: reports that come in any order of queues, and questions that are
 * never answered.
 */
#include "unit.h"

#include "target/amd/hip/launch_pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR   UINT64_MAX
#define STACK 131072
#define PAGE  4096
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

static int setup(void **state)
{
	(void)state;
	return launches_open();
}

static int teardown(void **state)
{
	(void)state;
	launches_close();
	return 0;
}

static void ask(enum launch_kind kind, uint64_t stream, int32_t thread, uint64_t what,
		uint64_t cause)
{
	struct launch launch = { .cause = cause, .stream = stream, .what = what, .thread = thread };

	assert_true(launches_add(kind, &launch));
}

/* The cause of what was reported; 0: not sure. */
static uint64_t report(enum launch_kind kind, uint64_t queue, uint64_t what)
{
	struct launch_report told = { kind, queue, FAR, what, COPY_UNKNOWN };
	struct launch found = { 0 };

	return launches_match(&told, &found) ? found.cause : 0;
}

static void commands_of_a_stream_come_in_their_order(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, i);
	for (uint64_t i = 1; i <= 5; i++)
		assert_int_equal(report(LAUNCH_KERNEL, 3, 9), i);
	assert_int_equal(report(LAUNCH_KERNEL, 3, 9), 0);
}

static void copies_tell_streams_apart_by_their_size(void **state)
{
	(void)state;
	ask(LAUNCH_COPY, 0x1000, 7, 100, 1);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 2);
	ask(LAUNCH_COPY, 0x2000, 8, 200, 3);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x40, 4);
	assert_int_equal(report(LAUNCH_COPY, 5, 200), 3);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 4);
	assert_int_equal(report(LAUNCH_COPY, 6, 100), 1);
	assert_int_equal(report(LAUNCH_KERNEL, 6, 9), 2);
}

static void what_is_not_sure_is_not_named(void **state)
{
	(void)state;
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x50, 2);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 0);
	/* It may be that of the first: what is left is not sure either. */
	assert_int_equal(report(LAUNCH_KERNEL, 6, 9), 0);
	/* When they have none left, they begin anew. */
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 3);
	assert_int_equal(report(LAUNCH_KERNEL, 6, 9), 3);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x50, 4);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 10), 4);
}

static void kernels_are_known_by_their_functions(void **state)
{
	(void)state;
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
	launches_forget_stream(0x1000);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x50, 2);
	assert_int_equal(report(LAUNCH_KERNEL, 6, 10), 2);
	launches_forget_stream(0x2000);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 3);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x50, 4);
	assert_int_equal(report(LAUNCH_KERNEL, 6, 10), 4);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 3);
}

static void calls_that_failed_are_taken_back(void **state)
{
	(void)state;
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 2);
	launches_cancel(2);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 3);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 3);
}

static void questions_that_nobody_answers_are_passed_over(void **state)
{
	(void)state;
	ask(LAUNCH_COPY, 0x1000, 7, 100, 1);
	assert_int_equal(report(LAUNCH_COPY, 5, 100), 1);
	ask(LAUNCH_COPY, 0x1000, 7, 200, 2); /* lost */
	ask(LAUNCH_COPY, 0x1000, 7, 300, 3);
	assert_int_equal(report(LAUNCH_COPY, 5, 300), 3);
	ask(LAUNCH_COPY, 0x1000, 7, 400, 4);
	assert_int_equal(report(LAUNCH_COPY, 5, 400), 4);
}

static void nothing_is_caused_by_what_came_later(void **state)
{
	struct launch launch = { .cause = 1, .stream = 0x1000, .asked = 100, .thread = 7 };
	struct launch_report told = { LAUNCH_KERNEL, 5, 99, 9, COPY_UNKNOWN };
	struct launch found;

	(void)state;
	assert_true(launches_add(LAUNCH_KERNEL, &launch));
	assert_false(launches_match(&told, &found));
}

static void threads_share_the_default_stream(void **state)
{
	(void)state;
	ask(LAUNCH_KERNEL, 0, 7, 0x40, 1);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
	ask(LAUNCH_KERNEL, 0, 8, 0x40, 2);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 2);
	ask(LAUNCH_KERNEL, 0, 8, 0x40, 3);
	ask(LAUNCH_KERNEL, 0, 7, 0x40, 4);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 3);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 4);
}

/* More than there is room for, none of them ever reported. */
static void a_flood_is_survived(void **state)
{
	struct launch launch = { .cause = 1, .stream = 0x1000 };

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		launch.cause = i + 1;
		assert_true(launches_add(LAUNCH_KERNEL, &launch));
	}
	/* Those that had to make room may still be reported: whose report this is nobody knows. */
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 0);
	launches_settle(FAR, launches_misses());
	for (uint64_t stream = 0x10000; stream < 0x10000 + 1000; stream++) {
		launch.stream = stream;
		(void)launches_add(LAUNCH_COPY, &launch);
	}
}

/* Threads and streams come and go: each has a source of its own. */
static void more_streams_than_there_is_room_for(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 10 * STREAMS_MAX; i++) {
		ask(LAUNCH_KERNEL, i % 2 ? 0 : 0x1000 * i, (int32_t)i, 0x40, i);
		assert_int_equal(report(LAUNCH_KERNEL, i % 2 ? 5 : 5 + i, 9), i);
	}
}

static void another_function_where_one_was(void **state)
{
	(void)state;
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
	launches_forget_functions();
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 2);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 10), 2);
}

static bool can_ask(void)
{
	return launches_add(LAUNCH_KERNEL, &(struct launch){ .stream = 0x1000, .cause = 1 });
}

static __attribute__((noinline)) void lock_and_leave(jmp_buf out)
{
	volatile char room[4096];
	pool_seal seal;

	room[0] = 0;
	assert_non_null(pool_lock(&seal));
	longjmp(out, room[0] + 1);
}

/* The program goes on, and its stack is used again. */
static __attribute__((noinline)) void use_stack(void)
{
	volatile char room[16384];

	for (unsigned i = 0; i < sizeof(room); i++)
		room[i] = 1;
}

/* As a signal handler does that came in the midst. */
static void a_lock_that_was_left_is_free_again(void **state)
{
	jmp_buf out;

	(void)state;
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	if (!setjmp(out))
		lock_and_leave(out);
	use_stack();
	assert_true(can_ask());
	/* What was there before may be half done, and this one may be what it is reported for. */
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 0);
	launches_settle(FAR, launches_misses());
	assert_true(can_ask());
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 0);
}

/* The next stack down the memory, as those of coroutines lie. */
static void a_lock_that_was_left_on_a_stack_that_is_gone(void **state)
{
	char *stacks =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pool_seal *left = (pool_seal *)(stacks + PAGE), *here = left - 1;
	struct launch_pool *pool;

	(void)state;
	assert_ptr_not_equal(stacks, MAP_FAILED);
	assert_non_null(pool_lock(left));
	assert_null(pool_lock(here));
	assert_int_equal(munmap(stacks + PAGE, PAGE), 0);
	pool = pool_lock(here);
	assert_non_null(pool);
	pool_unlock(pool, here);
	munmap(stacks, PAGE);
}

static __attribute__((noinline)) bool can_ask_further_down(void)
{
	volatile char room[4096];

	room[0] = 0;
	return can_ask() && !room[0];
}

/* As a signal handler that launches a kernel. */
static void who_comes_in_between_does_without(void **state)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);

	(void)state;
	assert_non_null(pool);
	assert_false(can_ask_further_down());
	assert_false(can_ask_further_down());
	pool_unlock(pool, &seal);
	assert_true(can_ask_further_down());
}

static volatile int could_ask;

static void ask_in_handler(int number)
{
	(void)number;
	could_ask = can_ask();
}

/* The other stack lies higher, and the kernel does not tell that the thread is on it.  The one
 * before is put back: a sanitizer unmaps what it finds when the thread ends. */
static void *be_interrupted(void *higher)
{
	stack_t other = { .ss_sp = higher, .ss_size = STACK, .ss_flags = (int)SS_AUTODISARM };
	stack_t before;
	struct sigaction action = { .sa_handler = ask_in_handler, .sa_flags = SA_ONSTACK };
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);

	if (!pool || sigaltstack(&other, &before) || sigaction(SIGUSR1, &action, NULL))
		return NULL;
	could_ask = -1;
	raise(SIGUSR1);
	pool_unlock(pool, &seal);
	return sigaltstack(&before, NULL) ? NULL : pool;
}

static void who_comes_on_a_stack_that_nobody_knows_does_without(void **state)
{
	static char stacks[2 * STACK] __attribute__((aligned(4096)));
	pthread_attr_t attributes;
	void *held = NULL;
	pthread_t thread;

	(void)state;
	pthread_attr_init(&attributes);
	assert_int_equal(pthread_attr_setstack(&attributes, stacks, STACK), 0);
	assert_int_equal(pthread_create(&thread, &attributes, be_interrupted, stacks + STACK), 0);
	pthread_join(thread, &held);
	assert_non_null(held);
	assert_int_equal(could_ask, 0);
	assert_true(can_ask());
}

enum holding { HOLDS_NOT, HOLDS, MAY_GO };
static uint32_t holding;

static void await(uint32_t what)
{
	while (__atomic_load_n(&holding, __ATOMIC_ACQUIRE) != what)
		usleep(100);
}

static void *hold(void *goes)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);
	struct source *source = pool ? pool_source(pool, 0x7000, true) : NULL;

	__atomic_store_n(&holding, HOLDS, __ATOMIC_RELEASE);
	if (goes)
		return pool;
	await(MAY_GO);
	if (source)
		(void)pool_append(pool, source, LAUNCH_KERNEL, &(struct launch){ .cause = 77 });
	if (pool)
		pool_unlock(pool, &seal);
	return pool;
}

static pthread_t start_holder(bool goes)
{
	pthread_t thread;

	holding = HOLDS_NOT;
	assert_int_equal(pthread_create(&thread, NULL, hold, goes ? &holding : NULL), 0);
	await(HOLDS);
	return thread;
}

static void release(pthread_t thread)
{
	void *held = NULL;

	__atomic_store_n(&holding, MAY_GO, __ATOMIC_RELEASE);
	pthread_join(thread, &held);
	assert_non_null(held);
}

static void a_thread_that_is_not_running_holds_nobody_up(void **state)
{
	pthread_t thread = start_holder(false);

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		assert_false(can_ask());
	release(thread);
	assert_true(can_ask());
}

/* Its question is not noted, so each report would be taken for the one before. */
static void after_a_miss_no_cause_is_sure_until_all_is_settled(void **state)
{
	pthread_t thread;

	(void)state;
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	thread = start_holder(false);
	assert_false(can_ask());
	release(thread);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 3);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 0);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 0);
	launches_settle(FAR, launches_misses());
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 4);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 4);
}

/* Reports that could not get at their questions leave them behind: they go when all is settled. */
static void questions_of_missed_reports_do_not_pile_up(void **state)
{
	struct launch launch = { .stream = 0x1000, .what = 0x40 };
	struct launch_pool *pool;
	pool_seal seal;

	(void)state;
	for (uint64_t round = 1; round <= 1000; round++) {
		launch.asked = 10 * round;
		launch.cause = round;
		launches_settle(launch.asked, launches_misses());
		assert_true(launches_add(LAUNCH_KERNEL, &launch));
		launches_miss();
	}
	pool = pool_lock(&seal);
	assert_non_null(pool);
	assert_in_range(pool->used, 1, 4);
	pool_unlock(pool, &seal);
	/* What was asked since is kept. */
	launches_settle(launch.asked, launches_misses());
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1000);
}

static void a_thread_that_ended_with_the_lock(void **state)
{
	(void)state;
	release(start_holder(true));
	/* Joined is not gone: the kernel may still be at its end. */
	for (unsigned i = 0; !can_ask(); i++) {
		assert_true(i < 10000);
		usleep(1000);
	}
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 0);
	launches_settle(FAR, launches_misses());
	assert_true(can_ask());
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
}

/* A session begins while a thread of the one before is still inside: it keeps its pool. */
static void a_new_session_takes_nothing_from_who_is_inside(void **state)
{
	pthread_t thread = start_holder(false);

	(void)state;
	assert_int_equal(launches_open(), 0);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	release(thread);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 2);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 2);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 0);
}

static void a_child_of_a_thread_beside_the_holder(void **state)
{
	pthread_t thread = start_holder(false);
	pid_t child = fork();
	int status;

	(void)state;
	if (!child)
		_exit(launches_open() || !can_ask());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	release(thread);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(commands_of_a_stream_come_in_their_order),
		TEST(copies_tell_streams_apart_by_their_size),
		TEST(what_is_not_sure_is_not_named),
		TEST(kernels_are_known_by_their_functions),
		TEST(calls_that_failed_are_taken_back),
		TEST(questions_that_nobody_answers_are_passed_over),
		TEST(nothing_is_caused_by_what_came_later),
		TEST(threads_share_the_default_stream),
		TEST(a_flood_is_survived),
		TEST(more_streams_than_there_is_room_for),
		TEST(another_function_where_one_was),
		TEST(a_lock_that_was_left_is_free_again),
		TEST(a_lock_that_was_left_on_a_stack_that_is_gone),
		TEST(who_comes_in_between_does_without),
		TEST(who_comes_on_a_stack_that_nobody_knows_does_without),
		TEST(a_thread_that_is_not_running_holds_nobody_up),
		TEST(after_a_miss_no_cause_is_sure_until_all_is_settled),
		TEST(questions_of_missed_reports_do_not_pile_up),
		TEST(a_thread_that_ended_with_the_lock),
		TEST(a_new_session_takes_nothing_from_who_is_inside),
		TEST(a_child_of_a_thread_beside_the_holder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
