/*
 * The gate before calls that enqueue work: they wait while it is shut, and never for longer than it
 * may be.
 */
#include "unit.h"

#include "target/domains/cuda/cuda.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define HELD_MS   200u
#define TICK_US   5000
#define LIMIT_MS  500u /* as gate.c has it */
#define CALLS     3u
#define NS_PER_MS 1000000u

static bool is_opened;

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / NS_PER_MS;
}

static int setup(void **state)
{
	(void)state;
	__atomic_store_n(&is_opened, false, __ATOMIC_SEQ_CST);
	gate_renew();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gate_end();
	return 0;
}

static void lets_calls_pass_while_it_is_open(void **state)
{
	uint64_t mark = 0, begin_ms = now_ms();

	(void)state;
	gate_enter(&mark);
	assert_int_not_equal(mark, 0);
	gate_leave(&mark);
	gate_shut(); /* nobody is inside */
	gate_open();
	assert_true(now_ms() - begin_ms < LIMIT_MS);
}

/* Who has shut it may hang: the first call waits, and the others do not wait anew. */
static void holds_calls_no_longer_than_its_limit(void **state)
{
	uint64_t mark = 0, begin_ms = now_ms(), waited_ms;

	(void)state;
	gate_shut();
	for (unsigned i = 0; i < CALLS; i++) {
		gate_enter(&mark);
		gate_leave(&mark);
	}
	waited_ms = now_ms() - begin_ms;
	gate_open();
	assert_true(waited_ms >= LIMIT_MS - 1);
	assert_true(waited_ms < 2 * LIMIT_MS);
}

static void on_tick(int signal)
{
	(void)signal; /* only to interrupt */
}

static void *open_later(void *unused)
{
	usleep(HELD_MS * 1000);
	__atomic_store_n(&is_opened, true, __ATOMIC_SEQ_CST);
	gate_open();
	return unused;
}

static void start_opening(pthread_t *ret)
{
	sigset_t tick, before;

	sigemptyset(&tick);
	sigaddset(&tick, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &tick, &before);
	assert_int_equal(pthread_create(ret, NULL, open_later, NULL), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Profilers of the program's own send some hundred a second. */
static void holds_a_call_that_signals_interrupt(void **state)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	struct itimerval ticks = { { 0, TICK_US }, { 0, TICK_US } }, none = { 0 };
	uint64_t mark = 0;
	pthread_t thread;
	bool was_opened;

	(void)state;
	sigaction(SIGALRM, &action, NULL);
	gate_shut();
	start_opening(&thread);
	setitimer(ITIMER_REAL, &ticks, NULL);
	gate_enter(&mark);
	was_opened = __atomic_load_n(&is_opened, __ATOMIC_SEQ_CST);
	setitimer(ITIMER_REAL, &none, NULL);
	pthread_join(thread, NULL);
	gate_leave(&mark);
	assert_true(was_opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lets_calls_pass_while_it_is_open, setup, teardown),
		cmocka_unit_test_setup_teardown(holds_calls_no_longer_than_its_limit, setup,
						teardown),
		cmocka_unit_test_setup_teardown(holds_a_call_that_signals_interrupt, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
