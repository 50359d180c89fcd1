/*
 * Threads that wait for locks of each other.  Says "ready" when they do.
 *
 *   usage: locks circle|self|timed|busy|alike|switching KIND THREADS
 *
 *   circle     each has a lock and waits for the next one's: a deadlock
 *   self       one thread waits for a lock that it has itself
 *   timed      a circle in which each gives up after a while, and begins again
 *   busy       all fight for the same two locks, in the same order
 *   alike      all wait for a lock that the main thread has
 *   switching  each sleeps and runs in turn
 *
 *   KIND: normal, recursive, checked, robust
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 16

static pthread_mutex_t locks[THREADS_MAX + 1];
static pthread_barrier_t barrier;
static const char *mode;
static int count;

static bool is_mode(const char *name)
{
	return !strcmp(mode, name);
}

static void make_lock(pthread_mutex_t *lock, const char *kind)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	if (!strcmp(kind, "recursive"))
		pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	if (!strcmp(kind, "checked"))
		pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	if (!strcmp(kind, "robust"))
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(lock, &attributes);
}

/* Long enough for dumps that look twice. */
static void try_for_a_while(pthread_mutex_t *own, pthread_mutex_t *next)
{
	struct timespec end;

	for (;;) {
		pthread_mutex_lock(own);
		clock_gettime(CLOCK_REALTIME, &end);
		end.tv_sec += 2;
		if (!pthread_mutex_timedlock(next, &end))
			pthread_mutex_unlock(next);
		pthread_mutex_unlock(own);
	}
}

static void fight(void)
{
	for (;;) {
		pthread_mutex_lock(&locks[0]);
		pthread_mutex_lock(&locks[1]);
		usleep(1);
		pthread_mutex_unlock(&locks[1]);
		pthread_mutex_unlock(&locks[0]);
	}
}

static void switch_for_ever(void)
{
	volatile unsigned turns = 0;

	for (;;) {
		usleep(50);
		for (unsigned i = 0; i < 20000; i++)
			turns = turns + 1;
	}
}

static void *run(void *argument)
{
	int number = (int)(long)argument;
	pthread_mutex_t *own = &locks[number], *next = &locks[(number + 1) % count];
	char name[16];

	snprintf(name, sizeof(name), "locker %d", number);
	pthread_setname_np(pthread_self(), name);
	if (is_mode("circle"))
		pthread_mutex_lock(own);
	pthread_barrier_wait(&barrier);
	if (is_mode("timed"))
		try_for_a_while(own, next);
	if (is_mode("busy"))
		fight();
	if (is_mode("switching"))
		switch_for_ever();
	if (is_mode("self"))
		pthread_mutex_lock(own);
	if (is_mode("alike"))
		next = &locks[count];
	pthread_mutex_lock(is_mode("self") ? own : next);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 4)
		return 2;
	mode = argv[1];
	count = atoi(argv[3]);
	if (count < 1 || count > THREADS_MAX)
		return 2;
	pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
	for (int i = 0; i <= count; i++)
		make_lock(&locks[i], argv[2]);
	pthread_mutex_lock(&locks[count]);
	for (long i = 0; i < count; i++)
		pthread_create(&thread, NULL, run, (void *)i);
	pthread_barrier_wait(&barrier);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
