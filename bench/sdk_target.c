/*
 * Calls one cheap function of the stand-in HIP runtime as often as it is told to, and says how many
 * nanoseconds of processor time a call took.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int hipGetDevice(int *device);

static uint64_t busy_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(void)
{
	unsigned long count;
	int device;

	hipGetDevice(&device);
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (scanf("%lu", &count) == 1) {
		uint64_t begin = busy_ns();

		for (unsigned long i = 0; i < count; i++)
			hipGetDevice(&device);
		printf("%.2f\n", (double)(busy_ns() - begin) / (double)count);
		fflush(stdout);
	}
	return 0;
}
