/*
 * Programs that live on signals: a timer every 100 microseconds together with queued signals that
 * carry sequence numbers, so that a lost one shows as a gap; a handler on its own stack.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define TICK_US   100
#define QUEUE_NS  (NS_PER_MS / 2)
#define ALT_BYTES (64 * 1024)

static _Atomic uint64_t ticks;
static char alternate[ALT_BYTES];

static void tick_handle(int number)
{
	(void)number;
	atomic_fetch_add(&ticks, 1);
}

/* Queued signals of one number arrive in the order in which they were sent. */
static void queued_handle(int number, siginfo_t *info, void *context)
{
	uint64_t expected = atomic_load(&stats->signals_received) + 1;

	(void)number;
	(void)context;
	if ((uint32_t)info->si_value.sival_int != (uint32_t)expected)
		atomic_fetch_add(&stats->signals_lost, 1);
	atomic_store(&stats->signals_received, (uint32_t)info->si_value.sival_int);
}

/* A full queue (EAGAIN) is not a loss: the number is used again for the next try. */
static void queue_send(void)
{
	uint64_t next = atomic_load(&stats->signals_sent) + 1;
	union sigval value = { .sival_int = (int)next };

	if (sigqueue(companion_owner(), SIGRTMIN, value) == 0)
		atomic_store(&stats->signals_sent, next);
}

static void handler_install(int number, void (*handle)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | flags };

	sigfillset(&action.sa_mask);
	if (sigaction(number, &action, NULL) < 0)
		workload_skip("sigaction");
}

static void timer_start(int interval_us)
{
	struct itimerval interval = { { 0, interval_us }, { 0, interval_us } };
	struct sigaction action = { .sa_handler = tick_handle, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	if (setitimer(ITIMER_REAL, &interval, NULL) < 0)
		workload_skip("setitimer");
}

/* The companion is forked first: timers and their signals are not inherited, handlers would be. */
static void alarm_prepare(void)
{
	handler_install(SIGRTMIN, queued_handle, SA_RESTART);
	companion_start(queue_send, QUEUE_NS, NULL);
	timer_start(TICK_US);
	workload_ready();
}

/* A turn counts only when the timer still ticks. */
static void alarm_run(const void *data)
{
	uint64_t seen = 0;

	(void)data;
	alarm_prepare();
	for (;;) {
		while (atomic_load(&ticks) == seen)
			;
		seen = atomic_load(&ticks);
		workload_turn();
	}
}

static void alarm_wait_run(const void *data)
{
	sigset_t none;

	(void)data;
	alarm_prepare();
	sigemptyset(&none);
	for (;;) {
		if (sigsuspend(&none) != -1 || errno != EINTR)
			workload_fail("sigsuspend");
		workload_turn();
	}
}

static bool is_on_alternate(const void *address)
{
	return (const char *)address >= alternate && (const char *)address < alternate + ALT_BYTES;
}

static void alternate_handle(int number, siginfo_t *info, void *context)
{
	char here;

	if (!is_on_alternate(&here))
		workload_corrupt("signals: handler not on its stack");
	queued_handle(number, info, context);
}

static void alternate_check(void)
{
	stack_t now;

	if (sigaltstack(NULL, &now) < 0)
		workload_fail("sigaltstack");
	if (now.ss_sp != alternate || now.ss_size != ALT_BYTES || now.ss_flags != 0)
		workload_corrupt("signals: alternate stack changed");
}

static void alternate_run(const void *data)
{
	stack_t stack = { .ss_sp = alternate, .ss_size = ALT_BYTES };

	(void)data;
	if (sigaltstack(&stack, NULL) < 0)
		workload_skip("sigaltstack");
	handler_install(SIGRTMIN, alternate_handle, SA_RESTART | SA_ONSTACK);
	companion_start(queue_send, QUEUE_NS, NULL);
	workload_ready();
	for (;;) {
		alternate_check();
		workload_turn();
	}
}

const struct workload workloads[] = {
	{ "alarm", alarm_run, NULL },
	{ "alarm_wait", alarm_wait_run, NULL },
	{ "altstack", alternate_run, NULL },
	{ NULL, NULL, NULL },
};
