/*
 * A target for samplers: a thread that computes, one that sleeps 2 ms again and again, and a first
 * thread that waits.  Built without frame pointers, as programs are.
 *
 *   usage: spinner [quiet|locked]
 *
 *   quiet   nobody computes or sleeps shortly
 *   locked  a thread holds a lock for ever, another one waits for it
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

void spin_leaf(void);
void spin_hot(void);
void spin_cold(void);
void sleep_short(void);

__attribute__((noinline)) void spin_leaf(void)
{
	for (int i = 0; i < 20000; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) void spin_hot(void)
{
	spin_leaf();
	sink++;
}

__attribute__((noinline)) void spin_cold(void)
{
	for (int i = 0; i < 2000; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) void sleep_short(void)
{
	struct timespec time = { 0, 2000000 };

	nanosleep(&time, NULL);
	sink++;
}

static void *spin(void *unused)
{
	pthread_setname_np(pthread_self(), "spinning");
	for (;;) {
		spin_hot();
		spin_cold();
	}
	return unused;
}

static void *doze(void *unused)
{
	pthread_setname_np(pthread_self(), "dozing");
	for (;;)
		sleep_short();
	return unused;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_held;

static void *hold(void *unused)
{
	pthread_setname_np(pthread_self(), "holding");
	pthread_mutex_lock(&lock);
	is_held = 1;
	for (;;)
		pause();
	return unused;
}

void wait_for_lock(void);

__attribute__((noinline)) void wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	sink++;
}

static void *wait_forever(void *unused)
{
	pthread_setname_np(pthread_self(), "waiting");
	while (!is_held)
		sleep_short();
	wait_for_lock();
	return unused;
}

static void start(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, first, NULL);
	pthread_create(&thread, NULL, second, NULL);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		start(spin, doze);
	else if (!strcmp(argv[1], "locked"))
		start(hold, wait_forever);
	for (;;)
		pause();
}
