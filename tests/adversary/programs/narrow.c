/*
 * A program with a thread that has a filter of its own: the kernel kills the process when that
 * thread asks for its process's number, uses a futex or changes its signal mask.  For each byte on
 * stdin the thread accepts a connection, marks a range, asks for no_new_privs, which it has, and
 * says what that answered.  With an argument it gets its filter at the first byte, while another
 * thread has the dynamic loader's lock, without which nobody leaves the program.
 */
#define _GNU_SOURCE
#include "standin_nvtx.h"

#include <link.h>
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

static int confine(void)
{
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return give_up_rights() || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int to_holder[2], from_holder[2]; /* pipes: a futex would kill */

static int say(int fd)
{
	return write(fd, "", 1) != 1;
}

static int hear(int fd)
{
	char byte;

	return read(fd, &byte, 1) != 1;
}

/* The loader's lock is ours until we are told. */
static int hold(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info, (void)size, (void)unused;
	return say(from_holder[1]) || hear(to_holder[0]) || 1;
}

static int confine_late(void)
{
	return hear(STDIN_FILENO) || say(to_holder[1]) || hear(from_holder[0]) || confine();
}

static int answer(void)
{
	return write(STDOUT_FILENO, work() || give_up_rights() ? "no\n" : "ok\n", 3) != 3;
}

static void *live_narrowly(void *is_late)
{
	if ((!is_late && confine()) || write(STDOUT_FILENO, "ready\n", 6) != 6)
		return NULL;
	if (is_late && (confine_late() || answer() || say(to_holder[1])))
		return NULL;
	while (!hear(STDIN_FILENO) && !answer())
		;
	_exit(0);
}

int main(int count, char **arguments)
{
	pthread_t thread;
	void *is_late = count > 1 ? arguments[1] : NULL;

	if (listener_open() || pipe(to_holder) || pipe(from_holder) ||
	    pthread_create(&thread, NULL, live_narrowly, is_late))
		return 2;
	if (is_late && !hear(to_holder[0]))
		dl_iterate_phdr(hold, NULL);
	pthread_join(thread, NULL);
	return 1;
}
