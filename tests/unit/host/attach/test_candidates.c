/*
 * Which thread is chosen: a child whose threads wait in known calls.
 */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/attach/facts/facts.h"

enum role { READS, SLEEPS, RUNS, LOCKS, POLLS_EVENTS, ROLE_COUNT };

#define MANY 20u /* more than the list holds */

/* Shared with the child. */
static struct {
	pid_t tids[ROLE_COUNT];
	pid_t many[MANY];
} * shared;

static int ends[2], events;
static bool is_reader_confined;

static void *read_for_ever(void *tid)
{
	char byte;

	if (is_reader_confined)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* of the thread */
	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	while (read(ends[0], &byte, 1) >= 0)
		;
	return NULL;
}

_Noreturn static void *sleep_for_ever(void *tid)
{
	struct timespec long_time = { 1000, 0 };

	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	for (;;)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &long_time, NULL);
}

_Noreturn static void *run_for_ever(void *tid)
{
	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	for (;;)
		__asm__ volatile("");
}

_Noreturn static void *wait_on_a_lock(void *tid)
{
	static int word;

	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	for (;;)
		syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, NULL);
}

_Noreturn static void *wait_for_events(void *tid)
{
	struct epoll_event event;

	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	for (;;)
		syscall(SYS_epoll_pwait, events, &event, 1, -1, NULL, 8);
}

static void *(*const roles[ROLE_COUNT])(void *) = {
	[READS] = read_for_ever,  [SLEEPS] = sleep_for_ever,        [RUNS] = run_for_ever,
	[LOCKS] = wait_on_a_lock, [POLLS_EVENTS] = wait_for_events,
};

static void start_threads(void *(*run)(void *), pid_t *tids, unsigned count)
{
	pthread_t thread;

	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, run, &tids[i]))
			_exit(1);
}

/* The first thread waits for events too, so that it never comes first by itself. */
static pid_t start_child(bool has_many)
{
	pid_t child;

	memset(shared, 0, sizeof(*shared));
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (has_many)
			start_threads(wait_for_events, shared->many, MANY);
		for (unsigned i = 0; i < ROLE_COUNT; i++)
			start_threads(roles[i], &shared->tids[i], 1);
		wait_for_events(&(pid_t){ 0 });
	}
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static bool has(const struct candidates *list, pid_t tid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].tid == tid)
			return true;
	return false;
}

/* An empty one when the thread is not in the list. */
static struct candidate get(const struct candidates *list, pid_t tid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].tid == tid)
			return list->items[i];
	fail_msg("thread %d is not in the list", tid);
	return (struct candidate){ 0 };
}

static bool all_wait(const struct candidates *list, unsigned threads)
{
	unsigned waiting = 0;

	for (size_t i = 0; i < list->count; i++)
		waiting += list->items[i].call.is_known;
	return list->count >= threads && waiting + 1 >= list->count &&
	       has(list, shared->tids[RUNS]);
}

/* Looks until every thread is where it belongs. */
static void look(pid_t child, bool must_wait, unsigned threads, struct candidates *ret)
{
	static struct target target;
	struct candidates all;
	struct err err;

	target.process.pid = child;
	for (unsigned tries = 0; tries < PATIENCE_MS; tries++) {
		assert_int_equal(candidates_find(&target, false, &all, &err), 0);
		if (all_wait(&all, threads))
			break;
		usleep(1000);
	}
	assert_int_equal(candidates_find(&target, must_wait, ret, &err), 0);
}

static void assert_sorted(const struct candidates *list)
{
	for (size_t i = 1; i < list->count; i++)
		assert_true(list->items[i - 1].rank <= list->items[i].rank);
}

static void ranks_threads_by_their_calls(void **state)
{
	static const enum role order[] = { READS, SLEEPS, RUNS, POLLS_EVENTS };
	pid_t child = start_child(false);
	struct candidates list;
	unsigned rank = 0;

	(void)state;
	look(child, false, ROLE_COUNT + 1, &list);
	end_child(child);
	assert_int_equal(list.count, ROLE_COUNT + 1);
	assert_sorted(&list);
	assert_int_equal(list.items[0].tid, shared->tids[READS]);
	assert_int_equal(list.items[0].call.nr, SYS_read);
	assert_int_equal(list.items[0].call.args[0], ends[0]);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		struct candidate one = get(&list, shared->tids[order[i]]);

		assert_int_equal(one.inner_tid, one.tid);
		assert_true(i == 0 || rank < one.rank);
		rank = one.rank;
	}
	assert_int_equal(get(&list, shared->tids[LOCKS]).rank,
			 get(&list, shared->tids[SLEEPS]).rank);
	assert_int_equal(get(&list, child).call.nr, SYS_epoll_pwait);
	assert_false(get(&list, shared->tids[RUNS]).call.is_known);
}

/* libc itself may be waiting for a lock, or be anywhere in a thread that runs. */
static void takes_only_waiting_threads_where_it_must(void **state)
{
	pid_t child = start_child(false);
	struct candidates list;

	(void)state;
	look(child, true, ROLE_COUNT + 1, &list);
	end_child(child);
	assert_int_equal(list.count, ROLE_COUNT - 1);
	assert_sorted(&list);
	assert_false(has(&list, shared->tids[LOCKS]));
	assert_false(has(&list, shared->tids[RUNS]));
	assert_int_equal(list.items[0].tid, shared->tids[READS]);
	assert_true(has(&list, shared->tids[POLLS_EVENTS]));
}

static void keeps_the_best_of_many(void **state)
{
	pid_t child = start_child(true);
	struct candidates list;

	(void)state;
	look(child, false, CANDIDATES_MAX, &list);
	end_child(child);
	assert_int_equal(list.count, CANDIDATES_MAX);
	assert_sorted(&list);
	assert_int_equal(list.items[0].tid, shared->tids[READS]);
	for (unsigned i = 0; i < POLLS_EVENTS; i++)
		assert_true(has(&list, shared->tids[i]));
}

static void takes_a_thread_with_other_rights_last(void **state)
{
	struct candidates list;
	pid_t child;

	(void)state;
	is_reader_confined = true;
	child = start_child(false);
	is_reader_confined = false;
	look(child, false, ROLE_COUNT + 1, &list);
	end_child(child);
	assert_int_equal(list.count, ROLE_COUNT + 1);
	assert_sorted(&list);
	assert_int_equal(list.items[ROLE_COUNT].tid, shared->tids[READS]);
}

static void says_when_the_process_is_gone(void **state)
{
	static struct target target;
	struct candidates list;
	struct err err;

	(void)state;
	target.process.pid = INT32_MAX;
	assert_true(candidates_find(&target, false, &list, &err) < 0);
}

/* A thread that a debugger holds is not ours to stop. */
static void leaves_a_stopped_process_alone(void **state)
{
	static struct target target;
	pid_t child = start_child(false);
	struct candidates list;
	struct err err;

	(void)state;
	look(child, false, ROLE_COUNT + 1, &list);
	kill(child, SIGSTOP);
	waitpid(child, NULL, WUNTRACED);
	target.process.pid = child;
	for (unsigned tries = 0; tries < PATIENCE_MS; tries++) {
		assert_int_equal(candidates_find(&target, false, &list, &err), 0);
		if (!list.count)
			break;
		usleep(1000);
	}
	end_child(child);
	assert_int_equal(list.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_threads_by_their_calls),
		cmocka_unit_test(takes_only_waiting_threads_where_it_must),
		cmocka_unit_test(keeps_the_best_of_many),
		cmocka_unit_test(takes_a_thread_with_other_rights_last),
		cmocka_unit_test(says_when_the_process_is_gone),
		cmocka_unit_test(leaves_a_stopped_process_alone),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	events = epoll_create1(EPOLL_CLOEXEC);
	if (shared == MAP_FAILED || pipe(ends) || events < 0)
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
