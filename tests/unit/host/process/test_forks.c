/*
 * Forks of processes, by each source that this machine allows, with children of this very test.
 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/process/forks/forks.h"

#define LOOKS PATIENCE_MS /* of a millisecond each */

/* What the visitors look for, and what they have seen of it. */
struct search {
	pid_t wanted;
	bool is_found;
	struct fork_event fork_event;
	unsigned asked;
};

static pid_t start_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void note_birth(const struct fork_event *fork_event, void *context)
{
	struct search *search = context;

	if (fork_event->lineage.pid != search->wanted || fork_event->is_exec || search->is_found)
		return;
	search->is_found = true;
	search->fork_event = *fork_event;
}

static void hears_of_a_child(struct forks *forks)
{
	struct search search = { 0 };

	forks_poll(forks, note_birth, &search);
	search.wanted = start_child();
	for (unsigned i = 0; i < LOOKS && !search.is_found; i++) {
		forks_poll(forks, note_birth, &search);
		usleep(1000);
	}
	end_child(search.wanted);
	forks_close(forks);
	assert_true(search.is_found);
	assert_int_equal(search.fork_event.lineage.parent, getpid());
}

static void hears_of_a_child_on_the_best_rung(void **state)
{
	struct forks forks;

	(void)state;
	forks_open(&forks);
	assert_true(forks_wait_ms(&forks) <= 10);
	hears_of_a_child(&forks);
}

static void hears_of_a_child_by_its_number(void **state)
{
	struct forks forks = { .source = FORKS_NUMBERS, .events = -1 };

	(void)state;
	assert_int_equal(process_numbers_open(&forks.numbers), 0);
	assert_int_equal(forks_wait_ms(&forks), 1);
	hears_of_a_child(&forks);
}

static void hears_of_a_child_by_walking(void **state)
{
	struct forks forks = { .source = FORKS_WALK, .events = -1, .numbers = { .fd = -1 } };

	(void)state;
	hears_of_a_child(&forks);
}

static bool is_never_there(pid_t pid, void *context)
{
	struct search *search = context;

	search->asked += pid == search->wanted;
	return false;
}

static void asks_again_for_a_number_that_cannot_be_seen_yet(void **state)
{
	struct process_numbers numbers;
	struct search search = { 0 };

	(void)state;
	assert_int_equal(process_numbers_open(&numbers), 0);
	search.wanted = start_child();
	/* A number is given up after a moment, in which a busy machine may not let us look. */
	for (unsigned tries = 0; search.asked < 2 && tries < LOOKS; tries++) {
		end_child(search.wanted);
		search = (struct search){ .wanted = start_child() };
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(process_numbers_poll(&numbers, is_never_there, &search),
					 0);
	}
	assert_true(search.asked >= 2);
	usleep(20000);
	assert_int_equal(process_numbers_poll(&numbers, is_never_there, &search), 0);
	search.asked = 0;
	assert_int_equal(process_numbers_poll(&numbers, is_never_there, &search), 0);
	assert_int_equal(search.asked, 0); /* given up */
	process_numbers_close(&numbers);
	end_child(search.wanted);
}

static bool count_number(pid_t pid, void *context)
{
	(void)pid;
	((struct search *)context)->asked++;
	return true;
}

static void does_not_look_at_each_of_too_many(void **state)
{
	struct process_numbers numbers;
	struct search search = { 0 };

	(void)state;
	assert_int_equal(process_numbers_open(&numbers), 0);
	numbers.last = 100000000; /* as if they had begun anew, or been set back */
	assert_int_equal(process_numbers_poll(&numbers, count_number, &search), -EOVERFLOW);
	assert_int_equal(search.asked, 0);
	process_numbers_close(&numbers);
}

static void knows_its_own_kin(void **state)
{
	struct lineage lineage;

	(void)state;
	assert_int_equal(lineage_read(getpid(), &lineage), 0);
	assert_int_equal(lineage.parent, getppid());
	assert_int_equal(lineage.session, getsid(0));
	assert_false(lineage.has_ended);
	assert_int_equal(lineage_read(INT32_MAX, &lineage), -ESRCH);
}

static void tells_a_zombie(void **state)
{
	pid_t child = start_child();
	siginfo_t info;
	struct lineage lineage;

	(void)state;
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	assert_int_equal(lineage_read(child, &lineage), 0);
	assert_true(lineage.has_ended);
	waitpid(child, NULL, 0);
}

static void lists_parents_before_their_children(void **state)
{
	size_t count, mine = 0, childs = 0;
	pid_t child = start_child();
	struct lineage *list;
	struct err err;

	(void)state;
	assert_int_equal(lineage_read_all(&list, &count, &err), 0);
	for (size_t i = 0; i < count; i++) {
		mine = list[i].pid == getpid() ? i + 1 : mine;
		childs = list[i].pid == child ? i + 1 : childs;
	}
	assert_true(mine && mine < childs);
	free(list);
	end_child(child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hears_of_a_child_on_the_best_rung),
		cmocka_unit_test(hears_of_a_child_by_its_number),
		cmocka_unit_test(hears_of_a_child_by_walking),
		cmocka_unit_test(asks_again_for_a_number_that_cannot_be_seen_yet),
		cmocka_unit_test(does_not_look_at_each_of_too_many),
		cmocka_unit_test(knows_its_own_kin),
		cmocka_unit_test(tells_a_zombie),
		cmocka_unit_test(lists_parents_before_their_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
