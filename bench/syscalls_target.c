/*
 * Makes system calls without an end: a short one (getppid), a read of one byte of /dev/zero, and an
 * open that fails, in turns.  Every tenth of a second it says how many it has made, the time, and
 * how much processor time it has had.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BATCH 100 /* between two looks at the clock, which is no system call */

static double seconds_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void batch_call(int zero)
{
	char byte;

	for (int i = 0; i < BATCH; i++) {
		syscall(SYS_getppid);
		syscall(SYS_read, zero, &byte, 1);
		syscall(SYS_openat, AT_FDCWD, "/no/such/file", O_RDONLY);
	}
}

int main(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	double next = seconds_of(CLOCK_MONOTONIC) + 0.1;
	unsigned long calls = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (;;) {
		batch_call(zero);
		calls += 3 * BATCH;
		if (seconds_of(CLOCK_MONOTONIC) >= next) {
			printf("%lu %.6f %.6f\n", calls, seconds_of(CLOCK_MONOTONIC),
			       seconds_of(CLOCK_PROCESS_CPUTIME_ID));
			next = seconds_of(CLOCK_MONOTONIC) + 0.1;
		}
	}
}
