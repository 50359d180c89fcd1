/*
 * Tests of the processes that a sampler follows: who is found, whose mappings a child has, and when
 * one has ended.
 */
#include "unit.h"

#include "host/core/clock.h"
#include "host/sampling/followed.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct followed *add(struct followed_set *set, pid_t pid, pid_t parent)
{
	struct followed *process = NULL;

	assert_int_equal(followed_add_child(set, pid, parent, &process), 0);
	return process;
}

static struct followed *add_ourselves(struct followed_set *set)
{
	struct followed *process = NULL;
	struct err err = { 0 };
	struct space *space;

	assert_int_equal(space_open(&space, getpid(), &err), 0);
	assert_int_equal(followed_add(set, space, &process), 0);
	return process;
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void each_is_found_by_its_number(void **state)
{
	static const pid_t pids[] = { 70, 30, 90, 50, 10 };
	struct followed_set set = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		add(&set, pids[i], 0);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		assert_int_equal(followed_find(&set, pids[i])->pid, pids[i]);
	assert_null(followed_find(&set, 40));
	followed_remove(&set, 50);
	followed_remove(&set, 40);
	assert_null(followed_find(&set, 50));
	assert_non_null(followed_find(&set, 70));
	assert_int_equal(set.count, 4);
	followed_done(&set);
	assert_int_equal(set.count, 0);
}

static void a_child_has_the_mappings_of_its_parent_until_they_are_read(void **state)
{
	struct followed_set set = { 0 };
	struct followed *parent = add_ourselves(&set), *child;
	pid_t pid = start_child();
	size_t count;

	(void)state;
	child = add(&set, pid, getpid());
	count = child->space->count;
	assert_true(count && count == parent->space->count);
	assert_int_equal(child->space->pid, pid);
	assert_true(child->is_unread && !parent->is_unread);
	assert_ptr_equal(add(&set, pid, getpid()), child);
	space_forget(parent->space);
	assert_int_equal(child->space->count, count);
	followed_read_first(child);
	assert_true(!child->is_unread && child->space->count);
	end_child(pid);
	followed_done(&set);
}

static void who_is_gone_has_no_mappings(void **state)
{
	struct followed_set set = { 0 };
	pid_t pid = start_child();
	struct followed *process;

	(void)state;
	end_child(pid);
	process = add(&set, pid, 0);
	followed_read_first(process);
	assert_int_equal(process->space->count, 0);
	assert_true(followed_has_ended(process));
	followed_done(&set);
}

static void an_end_is_noticed(void **state)
{
	struct followed_set set = { 0 };
	pid_t pid = start_child();
	struct followed *ourselves = add_ourselves(&set), *child = add(&set, pid, 0);

	(void)state;
	assert_false(followed_has_ended(child));
	end_child(pid);
	assert_true(followed_has_ended(child));
	assert_int_equal(child->pidfd, -1);
	assert_false(followed_has_ended(ourselves));
	assert_false(followed_all_have_ended(&set));
	followed_remove(&set, getpid());
	assert_true(followed_all_have_ended(&set));
	followed_done(&set);
}

static void mappings_are_read_in_vain_more_and_more_rarely(void **state)
{
	struct followed_set set = { 0 };
	struct followed *process = add_ourselves(&set);
	uint64_t last_ns = 0;

	(void)state;
	assert_false(followed_retry(process));
	assert_true(process->retry_pause_ns > 0);
	for (unsigned i = 0; i < 20; i++) {
		assert_true(process->retry_pause_ns >= last_ns);
		last_ns = process->retry_pause_ns;
		process->looked_ns = 0;
		assert_false(followed_retry(process));
	}
	assert_int_equal(process->retry_pause_ns, last_ns);
	process->looked_ns = now_ns();
	space_forget(process->space);
	assert_false(followed_retry(process));
	process->looked_ns = 0;
	assert_true(followed_retry(process));
	followed_done(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found_by_its_number),
		cmocka_unit_test(a_child_has_the_mappings_of_its_parent_until_they_are_read),
		cmocka_unit_test(who_is_gone_has_no_mappings),
		cmocka_unit_test(an_end_is_noticed),
		cmocka_unit_test(mappings_are_read_in_vain_more_and_more_rarely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
