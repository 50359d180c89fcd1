/*
 * Rings at the listener of process PID and tries to get in, in the way of every version of its
 * protocol.  Prints "in", or what kept it out: "nobody listens", "refused N" (the listener's word),
 * "kernel: ..." (the kernel's).
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define MAGIC        0x6c696d70646f6f72ull
#define WELCOME_SIZE 264
#define PATIENCE_S   20

struct hello {
	uint64_t magic;
	uint32_t version, reserved;
	uint64_t nonce[2];
};

struct offer {
	uint64_t magic;
	uint32_t version, refusal;
	uint64_t inode;
	int32_t fd;
	uint32_t reserved;
};

static int ring(int pid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { PATIENCE_S, 0 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			      "limpet-attach-%d-0", pid);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length))) {
		puts("nobody listens");
		exit(0);
	}
	return fd;
}

/* The whole length of one message.  That the other side left without having read everything is told
 * before what it said. */
static ssize_t hear(int fd, void *into, size_t room)
{
	ssize_t size = recv(fd, into, room, MSG_TRUNC);

	return size < 0 && errno == ECONNRESET ? recv(fd, into, room, MSG_TRUNC) : size;
}

static void say_if_welcome(int fd)
{
	char welcome[WELCOME_SIZE];

	if (hear(fd, welcome, sizeof(welcome)) != sizeof(welcome))
		return;
	puts("in");
	exit(0);
}

/* Who listens was asked for nothing but a hello, once. */
static void try_first_version(int pid)
{
	struct hello hello = { .magic = MAGIC, .version = 1 };
	int fd = ring(pid);

	send(fd, &hello, offsetof(struct hello, nonce), MSG_NOSIGNAL);
	say_if_welcome(fd);
	close(fd);
}

/* By its number, or where that means nothing here, by the kernel's word about the connection. */
static int open_process(int pid, int connection)
{
	socklen_t size = sizeof(int);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 && getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &fd, &size))
		fd = -1;
	return fd;
}

static void try_second_version(int pid)
{
	struct hello hello = { .magic = MAGIC, .version = 2, .nonce = { 1, 2 } };
	struct offer offer;
	int fd = ring(pid), taken;

	send(fd, &hello, sizeof(hello), MSG_NOSIGNAL);
	if (hear(fd, &offer, sizeof(offer)) != sizeof(offer)) {
		puts("no offer");
		exit(0);
	}
	if (offer.refusal) {
		printf("refused %u\n", offer.refusal);
		exit(0);
	}
	taken = (int)syscall(SYS_pidfd_getfd, open_process(pid, fd), offer.fd, 0);
	if (taken < 0) {
		printf("kernel: %s\n", strerror(errno));
		exit(0);
	}
	send(taken, &hello, sizeof(hello), MSG_NOSIGNAL);
	hear(taken, &hello, sizeof(hello));
	say_if_welcome(taken);
}

int main(int argc, char **argv)
{
	int pid = argc > 1 ? atoi(argv[1]) : 0;

	try_first_version(pid);
	try_second_version(pid);
	puts("no welcome");
	return 0;
}
