/*
 * STAND-IN, for tests only, of AMD's driver (amdgpu's /dev/kfd and its topology in /sys): runs a
 * program, and answers what it opens and asks of the driver, by the kernel's notifications of
 * system calls (seccomp).
 *
 *   standin_kfd MODE TOPOLOGY SHARED PROGRAM ARGUMENTS...
 *
 * MODE: free, busy (another profiler has the counters), forbidden (no CAP_PERFMON) or old (the
 * driver knows no lock).  SHARED is a file of 4096 bytes: a word for each node, 1 while the waves
 * of all queues of it are counted (STANDIN_KFD of the stand-in device); the last word counts locks
 * that are held.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSFS      "/sys/class/kfd/kfd/topology"
#define WORDS      1024u
#define KFD_LETTER 0x4b00u /* 'K', in the middle of a request */

enum { VERSION_NUMBER = 1, PROFILER_NUMBER = 0x28, FIRST_GPU_ID = 1000 };
enum { OPERATION_COUNTERS = 0, OPERATION_VERSION = 2 };

static const char *mode, *topology;
static uint32_t *shared;
static int listener, kfd_like;

static void check(bool is_so, const char *what)
{
	if (is_so)
		return;
	perror(what);
	exit(99);
}

static int filter_install(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff00),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, KFD_LETTER, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

static void descriptor_send(int socket, int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = room,
				  .msg_controllen = sizeof(room) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	check(sendmsg(socket, &message, 0) == 1, "send the listener");
}

static int descriptor_receive(int socket)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = room,
				  .msg_controllen = sizeof(room) };
	struct cmsghdr *head;
	int fd = -1;

	check(recvmsg(socket, &message, 0) == 1, "receive the listener");
	head = CMSG_FIRSTHDR(&message);
	if (head)
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

static bool memory_copy(pid_t pid, uint64_t address, void *data, size_t size, bool is_write)
{
	char path[64];
	int fd;
	ssize_t moved;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	moved = is_write ? pwrite(fd, data, size, (off_t)address)
			 : pread(fd, data, size, (off_t)address);
	close(fd);
	return moved > 0;
}

/* In the program instead of what it asked for; its number there. */
static int descriptor_give(uint64_t id, int fd)
{
	struct seccomp_notif_addfd give = { .id = id,
					    .srcfd = (uint32_t)fd,
					    .newfd_flags = O_CLOEXEC };

	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &give);
}

static void answer_open(const struct seccomp_notif *call, struct seccomp_notif_resp *ret)
{
	char path[512] = "", own[1024];
	int fd = -1;

	memory_copy((pid_t)call->pid, call->data.args[1], path, sizeof(path) - 1, false);
	if (!strcmp(path, "/dev/kfd"))
		fd = kfd_like;
	else if (!strncmp(path, SYSFS, strlen(SYSFS))) {
		snprintf(own, sizeof(own), "%s%s", topology, path + strlen(SYSFS));
		fd = open(own, O_RDONLY | O_CLOEXEC);
		ret->error = fd < 0 ? -errno : 0;
	} else
		ret->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (fd < 0)
		return;
	ret->val = descriptor_give(call->id, fd);
	if (fd != kfd_like)
		close(fd);
}

/* {operation, gpu_id, lock, all queues} */
static int counters_lock(const uint32_t *words)
{
	uint32_t node = words[1] - FIRST_GPU_ID;

	if (!strcmp(mode, "busy"))
		return -EBUSY;
	if (!strcmp(mode, "forbidden"))
		return -EPERM;
	if (node >= WORDS - 1)
		return -EINVAL;
	shared[node] = words[2] && words[3];
	shared[WORDS - 1] += words[2] ? 1u : -1u;
	return 0;
}

static void answer_ioctl(const struct seccomp_notif *call, struct seccomp_notif_resp *ret)
{
	unsigned number = call->data.args[1] & 0xff;
	uint32_t words[4] = { 0 };

	memory_copy((pid_t)call->pid, call->data.args[2], words, sizeof(words), false);
	if (number == VERSION_NUMBER) {
		words[0] = 1;
		words[1] = 23;
		memory_copy((pid_t)call->pid, call->data.args[2], words, 8, true);
	} else if (number != PROFILER_NUMBER || !strcmp(mode, "old")) {
		ret->error = -EINVAL;
	} else if (words[0] == OPERATION_COUNTERS) {
		ret->error = counters_lock(words);
	}
}

static void answer_one(void)
{
	struct seccomp_notif call = { 0 };
	struct seccomp_notif_resp answer = { 0 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
		return; /* who asked is gone */
	answer.id = call.id;
	if (call.data.nr == SYS_openat)
		answer_open(&call, &answer);
	else
		answer_ioctl(&call, &answer);
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Until the program and all that it has started are gone. */
static int serve(pid_t child)
{
	struct pollfd wait = { listener, POLLIN, 0 };
	int status = 0;

	while (poll(&wait, 1, -1) >= 0 && !(wait.revents & POLLHUP))
		if (wait.revents & POLLIN)
			answer_one();
	shared[WORDS - 1] = 0; /* the driver takes back what a process has held */
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int sockets[2], file;
	pid_t child;

	check(argc > 4, "usage");
	mode = argv[1];
	topology = argv[2];
	file = open(argv[3], O_RDWR | O_CLOEXEC);
	shared = mmap(NULL, WORDS * sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	check(shared != MAP_FAILED, "shared");
	kfd_like = open("/dev/null", O_RDWR | O_CLOEXEC);
	check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), "sockets");
	signal(SIGINT, SIG_IGN);
	child = fork();
	if (!child) {
		signal(SIGINT, SIG_DFL);
		descriptor_send(sockets[1], filter_install());
		execv(argv[4], argv + 4);
		_exit(98);
	}
	listener = descriptor_receive(sockets[0]);
	return serve(child);
}
