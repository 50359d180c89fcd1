/*
 * Threads whose waits are known: sleeps of three lengths, each in a function of its own; and a lock
 * that one thread holds while others want it.  Runs until it is killed.
 *
 *   waits naps|convoy
 */
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

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
	else
		run_naps();
	return 0;
}
