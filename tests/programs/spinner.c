/*
 * A target for samplers: a thread that computes, one that sleeps 2 ms again and again, and a first
 * thread that waits.  Built without frame pointers, as programs are.
 *
 *   usage: spinner [quiet]      (quiet: nobody computes or sleeps shortly)
 */
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

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2 || strcmp(argv[1], "quiet")) {
		pthread_create(&thread, NULL, spin, NULL);
		pthread_create(&thread, NULL, doze, NULL);
	}
	for (;;)
		pause();
}
