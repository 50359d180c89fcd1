/*
 * Threads whose waits are known: sleeps of three lengths, each in a function of its own; a lock
 * that one thread holds while others want it; two threads that wake each other, as often as they
 * can, from SIGUSR1 on where they are to wait for that.  Runs until it is killed.
 *
 *   waits naps|convoy|wakes|wakes_later
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define APART   __attribute__((noinline, noipa))
#define WAITERS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long turns;

static void sleep_us(long us)
{
	struct timespec time = { 0, us * 1000 };

	nanosleep(&time, NULL);
}

APART void nap_1_ms(void)
{
	sleep_us(1000);
	turns++;
}

APART void nap_5_ms(void)
{
	sleep_us(5000);
	turns++;
}

APART void nap_20_ms(void)
{
	sleep_us(20000);
	turns++;
}

APART void take_lock(void)
{
	pthread_mutex_lock(&lock);
	turns++;
}

APART void hold_lock(void)
{
	sleep_us(4000);
	turns++;
}

APART void want_lock(void)
{
	pthread_mutex_lock(&lock);
	turns++;
	pthread_mutex_unlock(&lock);
}

static void *waiter(void *unused)
{
	for (;;)
		want_lock();
	return unused;
}

static void *holder(void *unused)
{
	for (;;) {
		take_lock();
		hold_lock();
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void run_convoy(void)
{
	pthread_t thread;

	for (int i = 0; i < WAITERS; i++)
		pthread_create(&thread, NULL, waiter, NULL);
	holder(NULL);
}

APART void wake_other(const int *from, const int *to)
{
	char byte = 0;

	if (read(from[0], &byte, 1) == 1 && write(to[1], &byte, 1) == 1)
		turns++;
}

static int ways[2][2]; /* pipes, there and back */

static void *waker(void *unused)
{
	for (;;)
		wake_other(ways[0], ways[1]);
	return unused;
}

static void run_wakes(bool is_later)
{
	pthread_t thread;
	sigset_t signals;
	int got;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (pipe(ways[0]) || pipe(ways[1]) || pthread_create(&thread, NULL, waker, NULL))
		return;
	if (is_later)
		sigwait(&signals, &got);
	if (write(ways[0][1], "", 1) != 1)
		return;
	for (;;)
		wake_other(ways[1], ways[0]);
}

/* Timers that are not put off to be handled together with others. */
static void run_naps(void)
{
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	for (;;) {
		nap_1_ms();
		nap_5_ms();
		nap_20_ms();
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "convoy"))
		run_convoy();
	else if (!strncmp(argv[1], "wakes", 5))
		run_wakes(!strcmp(argv[1], "wakes_later"));
	else
		run_naps();
	return 0;
}
