/*
 * A program with a thread that has a filter of its own: the kernel kills the process when that
 * thread asks for its process's number, uses a futex or changes its signal mask.  For each byte on
 * stdin the thread accepts a connection, marks a range, asks for no_new_privs, which it has, and
 * says what that answered.
 */
#define _GNU_SOURCE
#include "standin_nvtx.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static struct sock_filter code[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static struct sockaddr_un here, peer; /* far from any stack */
static socklen_t here_size;
static int listener = -1;

static int listener_open(void)
{
	here.sun_family = AF_UNIX;
	here_size = sizeof(here);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	return bind(listener, (struct sockaddr *)&here, sizeof(here.sun_family)) ||
	       listen(listener, 1) || getsockname(listener, (struct sockaddr *)&here, &here_size);
}

static int connection_accept(void)
{
	static socklen_t size;
	int client = socket(AF_UNIX, SOCK_STREAM, 0), server;

	size = sizeof(peer);
	if (connect(client, (struct sockaddr *)&here, here_size))
		return -1;
	server = accept(listener, (struct sockaddr *)&peer, &size);
	return close(client) || close(server);
}

static int work(void)
{
	int r;

	nvtxRangePushA("accept");
	r = connection_accept();
	nvtxRangePop();
	return r;
}

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
		if (write(STDOUT_FILENO, work() || give_up_rights() ? "no\n" : "ok\n", 3) != 3)
			break;
	_exit(0);
}

int main(void)
{
	pthread_t thread;

	if (listener_open() || pthread_create(&thread, NULL, live_narrowly, NULL))
		return 2;
	pthread_join(thread, NULL);
	return 1;
}
