/*
 * A program with a thread that has a filter of its own: the kernel kills the process when that
 * thread asks for its process's number or uses a futex.  For each byte on stdin the thread asks for
 * no_new_privs, which it has, and says what that answered.
 */
#define _GNU_SOURCE

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter code[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static int give_up_rights(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void *live_narrowly(void *unused)
{
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	char byte;

	(void)unused;
	if (give_up_rights() || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ||
	    write(STDOUT_FILENO, "ready\n", 6) != 6)
		return NULL;
	while (read(STDIN_FILENO, &byte, 1) == 1)
		if (write(STDOUT_FILENO, give_up_rights() ? "no\n" : "ok\n", 3) != 3)
			break;
	_exit(0);
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, live_narrowly, NULL))
		return 2;
	pthread_join(thread, NULL);
	return 1;
}
