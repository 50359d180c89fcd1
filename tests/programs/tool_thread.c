/*
 * A tool library for tests that starts a thread.  It stays inside the library, waiting or (with
 * LIMPET_TEST_VALUE=spin) running, as long as the file exists that LIMPET_TEST_OUT names.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SPIN_TURNS 1000000

static char file_path[512];
static int is_spinning;

static void spin(void)
{
	for (volatile int i = 0; i < SPIN_TURNS; i++)
		;
}

static void *thread_run(void *unused)
{
	const struct timespec pause = { 0, 50000000 };

	(void)unused;
	pthread_setname_np(pthread_self(), "stays-inside");
	while (access(file_path, F_OK) == 0) {
		if (is_spinning)
			spin();
		else
			nanosleep(&pause, NULL);
	}
	return NULL;
}

__attribute__((constructor)) static void thread_begin(void)
{
	const char *path = getenv("LIMPET_TEST_OUT"), *value = getenv("LIMPET_TEST_VALUE");
	pthread_t thread;

	if (!path)
		return;
	snprintf(file_path, sizeof(file_path), "%s", path);
	is_spinning = value && strcmp(value, "spin") == 0;
	if (pthread_create(&thread, NULL, thread_run, NULL) == 0)
		pthread_detach(thread);
}
