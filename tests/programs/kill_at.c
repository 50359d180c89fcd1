/*
 * kill_at NAME N COMMAND...: runs a command under a seccomp filter that asks us about each call
 * that matters to launching, and kills the process of that name (as /proc/PID/comm has it) at its
 * N-th such call.  The product needs no test hooks so.  Prints whether anybody was killed.
 * KILL_AT_PAUSE_US in the environment: so long that process waits in each such call, for what
 * others do in between.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE 1u
#endif

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5)
#endif

#define ASK(nr)                                          \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)

static int install(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ASK(SYS_ptrace),
		ASK(SYS_pwrite64),
		ASK(SYS_pidfd_open),
		ASK(SYS_pidfd_getfd),
		ASK(SYS_memfd_create),
		ASK(SYS_execve),
		ASK(SYS_execveat),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	/* So that signals do not cut short the calls we are asked about (Linux 5.19). */
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);

	if (fd < 0)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	return (int)fd;
}

static void send_fd(int socket, int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) != 1)
		_exit(125);
}

static int receive_fd(int socket)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec io = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
	};
	int fd = -1;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static int is_named(pid_t pid, const char *name)
{
	char path[64], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
		text[strcspn(text, "\n")] = 0;
	if (fd >= 0)
		close(fd);
	return !strcmp(text, name);
}

/* At the N-th call of that process; each of its calls takes as long as was asked for. */
static void process_hold(pid_t pid, long number, long wanted)
{
	const char *pause_us = getenv("KILL_AT_PAUSE_US");

	if (pause_us)
		usleep((useconds_t)atol(pause_us));
	if (number == wanted)
		kill(pid, SIGKILL);
}

/* Answers until nobody is left who could ask; true when one was killed. */
static int watch(int listener, const char *name, long wanted)
{
	struct pollfd wait = { listener, POLLIN, 0 };
	long count = 0;

	while (poll(&wait, 1, -1) >= 0 && !(wait.revents & POLLHUP)) {
		struct seccomp_notif asked = { 0 };
		struct seccomp_notif_resp answer = { 0 };

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
			continue;
		if (is_named((pid_t)asked.pid, name))
			process_hold((pid_t)asked.pid, ++count, wanted);
		answer.id = asked.id;
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return count >= wanted;
}

int main(int argc, char **argv)
{
	int pair[2], listener;
	pid_t child;

	if (argc < 4 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return 2;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, "kill_at_child");
		listener = install();
		if (listener < 0)
			_exit(77);
		send_fd(pair[0], listener);
		close(listener);
		execvp(argv[3], argv + 3);
		_exit(126);
	}
	close(pair[0]);
	listener = receive_fd(pair[1]);
	if (listener < 0) {
		puts("no filter");
		return 77;
	}
	puts(watch(listener, argv[1], atol(argv[2])) ? "killed" : "not killed");
	waitpid(child, NULL, 0);
	return 0;
}
