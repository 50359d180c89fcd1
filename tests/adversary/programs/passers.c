/*
 * Threads that never do anything but call functions which limpet notices, with arguments that
 * change nothing, while a timer's signal interrupts them anywhere.  Ends with 0 when its input
 * does.  `passers sandboxed`: one of them may not even wait, and asks all the time to be confined.
 */
#define _GNU_SOURCE

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define THREADS    3
#define PERIOD_US  700
#define NAME_BYTES 16

#define KILL_FOR(number)                                     \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static uint32_t is_over;

static void *pass(void *unused)
{
	char name[NAME_BYTES];

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		prctl(PR_GET_NAME, name);
		if (syscall(SYS_gettid) <= 0 || syscall(SYS_getppid) <= 0)
			return NULL;
	}
	return unused;
}

static void *pass_sandboxed(void *unused)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL_FOR(SYS_futex),
		KILL_FOR(SYS_getpid),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter))
		return NULL;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			return NULL;
	return unused;
}

static void on_timer(int number)
{
	char name[NAME_BYTES];

	(void)number;
	prctl(PR_GET_NAME, name);
}

int main(int argc, char **argv)
{
	int is_sandboxed = argc > 1 && !strcmp(argv[1], "sandboxed");
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	struct itimerval period = { { 0, PERIOD_US }, { 0, PERIOD_US } };
	pthread_t threads[THREADS];
	void *result;
	int bad = 0;
	char byte;

	sigaction(SIGALRM, &action, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, is_sandboxed && !i ? pass_sandboxed : pass,
			       &is_over);
	setitimer(ITIMER_REAL, &period, NULL);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		bad += !result;
	}
	return bad;
}
