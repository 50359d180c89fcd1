/*
 * When a line comes, two threads wait for each other's lock and read, in functions that keep no
 * frame pointers; then says "done" and waits.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define TURNS 200

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int zero;

static __attribute__((noinline)) void hold_lock(void)
{
	const struct timespec moment = { .tv_nsec = 200000 };

	pthread_mutex_lock(&mutex);
	nanosleep(&moment, NULL);
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}

static __attribute__((noinline)) int read_bytes(void)
{
	char bytes[64];
	ssize_t count = read(zero, bytes, sizeof(bytes));

	__asm__ volatile("" : : "r"(bytes) : "memory");
	return count != sizeof(bytes);
}

static void *take_turns(void *unused)
{
	int failures = 0;

	for (int i = 0; i < TURNS; i++) {
		hold_lock();
		failures += read_bytes();
	}
	return failures ? &zero : unused;
}

static int run_threads(void)
{
	pthread_t threads[2];
	void *answer = NULL;
	int failures = 0;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, take_turns, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		failures += pthread_join(threads[i], &answer) || answer;
	return failures;
}

int main(void)
{
	char line[16];

	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	puts("ready");
	fflush(stdout);
	if (zero < 0 || !fgets(line, sizeof(line), stdin) || run_threads())
		return 1;
	puts("done");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : 1;
}
