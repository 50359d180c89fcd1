/*
 * Stops of a thread whose tracer dies right after it has seen them: whatever kind of stop it was,
 * the thread goes on as if nobody had been there.  A signal on its way arrives, and none is made
 * up.
 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/injector.h"

#define LIMIT_NS    (PATIENCE_MS * 1000000ull)
#define SHORT_NS    20000000ull
#define QUEUED      (SIGRTMIN + 3)
#define VALUE       4711
#define NOT_ALLOWED 77

/* What the target tells. */
struct board {
	_Atomic uint64_t beats;
	_Atomic uint32_t queued, strange; /* signals: those that were sent, and all others */
	_Atomic int value;
	_Atomic int tracer_is_done;
};

static struct board *board;
static pid_t target;

static void signal_note(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number != QUEUED) {
		board->strange++;
		return;
	}
	board->value = info->si_value.sival_int;
	board->queued++;
}

static void target_run(void)
{
	struct sigaction action = { .sa_sigaction = signal_note, .sa_flags = SA_SIGINFO };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	for (int number = 1; number < SIGRTMAX; number++)
		if (number != SIGCONT)
			sigaction(number, &action, NULL);
	for (;;) {
		syscall(SYS_getppid);
		board->beats++;
	}
}

static bool goes_on(void)
{
	uint64_t wanted = board->beats + 10;

	for (unsigned i = 0; i < PATIENCE_MS && board->beats < wanted; i++)
		usleep(1000);
	return board->beats >= wanted;
}

static int target_start(void **ignored)
{
	(void)ignored;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (board == MAP_FAILED || (target = fork()) < 0)
		return -1;
	if (target == 0)
		target_run();
	return goes_on() ? 0 : -1;
}

static int target_end(void **ignored)
{
	(void)ignored;
	kill(target, SIGKILL);
	waitpid(target, NULL, __WALL);
	munmap(board, sizeof(*board));
	return 0;
}

/* From here to tracer_run(): in the tracer, a process of its own. */

static void need(bool is_so, int line)
{
	if (!is_so)
		_exit(line % 70 + 1); /* a hint is enough */
}
#define NEED(condition) need((condition), __LINE__)

static int stop_await(uint64_t limit_ns)
{
	int status = 0, r = wait_stop(target, wait_clock_ns() + limit_ns, &status);

	return r ? r : status;
}

static void target_seize(void)
{
	if (ptrace(PTRACE_SEIZE, target, 0, PTRACE_O_TRACESYSGOOD))
		_exit(NOT_ALLOWED);
}

static bool is_interrupt(int status)
{
	return status == (PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f);
}

static void target_interrupt(void)
{
	NEED(!ptrace(PTRACE_INTERRUPT, target, 0, 0));
	NEED(is_interrupt(stop_await(LIMIT_NS)));
}

static void at_signal(void)
{
	union sigval value = { .sival_int = VALUE };

	target_seize();
	NEED(!sigqueue(target, QUEUED, value));
	NEED(stop_await(LIMIT_NS) == (QUEUED << 8 | 0x7f));
}

static void at_interrupt(void)
{
	target_seize();
	target_interrupt();
}

static void at_syscall_entry(void)
{
	at_interrupt();
	NEED(!ptrace(PTRACE_SYSCALL, target, 0, 0));
	NEED(stop_await(LIMIT_NS) == ((SIGTRAP | 0x80) << 8 | 0x7f));
}

static void at_syscall_exit(void)
{
	at_syscall_entry();
	NEED(!ptrace(PTRACE_SYSCALL, target, 0, 0));
	NEED(stop_await(LIMIT_NS) == ((SIGTRAP | 0x80) << 8 | 0x7f));
}

static void at_group_stop(void)
{
	target_seize();
	NEED(!kill(target, SIGSTOP));
	NEED(stop_await(LIMIT_NS) == (SIGSTOP << 8 | 0x7f));
	NEED(!ptrace(PTRACE_CONT, target, 0, SIGSTOP));
	NEED(stop_await(LIMIT_NS) == (PTRACE_EVENT_STOP << 16 | SIGSTOP << 8 | 0x7f));
}

static void at_stop_signal(void)
{
	target_seize();
	NEED(!kill(target, SIGSTOP));
	NEED(stop_await(LIMIT_NS) == (SIGSTOP << 8 | 0x7f));
}

/* Each stop shows until the thread goes on, and never after that. */
static void through_all(void)
{
	at_signal();
	NEED(stop_await(LIMIT_NS) == (QUEUED << 8 | 0x7f));
	NEED(!ptrace(PTRACE_CONT, target, 0, QUEUED));
	NEED(stop_await(SHORT_NS) == -ETIMEDOUT);
	target_interrupt();
	NEED(is_interrupt(stop_await(LIMIT_NS)));
	NEED(!ptrace(PTRACE_CONT, target, 0, 0));
	NEED(stop_await(SHORT_NS) == -ETIMEDOUT);
	target_interrupt();
	NEED(!ptrace(PTRACE_DETACH, target, 0, 0));
}

/* The tracer lives on: the parent must see the end all the same. */
static void past_the_end(void)
{
	at_interrupt();
	NEED(!kill(target, SIGKILL));
	NEED(stop_await(LIMIT_NS) == -ESRCH);
	board->tracer_is_done = 1;
	for (;;)
		pause();
}

static pid_t tracer_start(void (*play)(void))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	wait_init();
	play();
	raise(SIGKILL);
	_exit(126);
}

/* Skips the test where nothing may be traced. */
static void tracer_run(void (*play)(void))
{
	pid_t pid = tracer_start(play);
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_ALLOWED)
		skip();
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void assert_undisturbed(void)
{
	assert_true(goes_on());
	assert_int_equal(board->strange, 0);
}

static void assert_signal_came_once(void)
{
	for (unsigned i = 0; i < PATIENCE_MS && !board->queued; i++)
		usleep(1000);
	assert_undisturbed();
	assert_int_equal(board->queued, 1);
	assert_int_equal(board->value, VALUE);
}

/* What the parent is told next of the target; 0 when it is told nothing in time. */
static pid_t news_await(int *ret_status)
{
	pid_t pid = 0;

	for (unsigned i = 0; i < PATIENCE_MS && !pid; i++) {
		usleep(1000);
		pid = waitpid(target, ret_status, WUNTRACED | WNOHANG);
	}
	return pid;
}

static void assert_stopped_until_continued(void)
{
	int status;

	assert_int_equal(news_await(&status), target);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), SIGSTOP);
	assert_int_equal(kill(target, SIGCONT), 0);
	assert_undisturbed();
}

static void test_signal(void **ignored)
{
	(void)ignored;
	tracer_run(at_signal);
	assert_signal_came_once();
}

static void test_no_signal_is_made_up(void **ignored)
{
	(void)ignored;
	tracer_run(at_interrupt);
	assert_undisturbed();
	tracer_run(at_syscall_entry);
	assert_undisturbed();
	tracer_run(at_syscall_exit);
	assert_undisturbed();
	assert_int_equal(board->queued, 0);
}

static void test_group_stop(void **ignored)
{
	(void)ignored;
	tracer_run(at_group_stop);
	assert_stopped_until_continued();
	tracer_run(at_stop_signal);
	assert_stopped_until_continued();
}

static void test_no_stop_comes_twice(void **ignored)
{
	(void)ignored;
	tracer_run(through_all);
	assert_signal_came_once();
}

static void test_end_is_told_to_the_parent(void **ignored)
{
	pid_t tracer = tracer_start(past_the_end), ended;
	int status = 0, fate = 0;

	(void)ignored;
	for (unsigned i = 0; i < PATIENCE_MS && !board->tracer_is_done; i++) {
		usleep(1000);
		if (waitpid(tracer, &fate, WNOHANG) == tracer)
			break;
	}
	if (WIFEXITED(fate) && WEXITSTATUS(fate) == NOT_ALLOWED)
		skip();
	assert_true(board->tracer_is_done);
	ended = news_await(&status);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	assert_int_equal(ended, target);
	assert_true(WIFSIGNALED(status));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, target_start, target_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_signal),
		TEST(test_no_signal_is_made_up),
		TEST(test_group_stop),
		TEST(test_no_stop_comes_twice),
		TEST(test_end_is_told_to_the_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
