/*
 * Listens under the name of a process that is born later: a process binds the name with its own
 * number, leaves the socket to a child, and ends; another process is then made with the same
 * number. Prints that number, and when asked (a line on stdin) how many bytes the impostor was
 * told.
 */
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define WELCOME_SIZE 264

/* Answers like a listener of the first version: magic, version, no error; the rest is zero. */
static void answer(int fd, size_t *heard)
{
	uint64_t welcome[WELCOME_SIZE / 8] = { 0x6c696d70646f6f72ull, 1 };
	char bytes[4096];
	ssize_t size;

	while ((size = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
		*heard += (size_t)size;
		send(fd, welcome, sizeof(welcome), MSG_NOSIGNAL);
	}
	close(fd);
}

/* Until told to tell. */
static void impersonate(int listening, int orders, int answers)
{
	struct timeval patience = { 0, 100000 };
	size_t heard = 0;
	char order;

	setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	for (;;) {
		int fd = accept(listening, NULL, NULL);

		if (fd >= 0)
			answer(fd, &heard);
		if (recv(orders, &order, 1, MSG_DONTWAIT) >= 0) {
			dprintf(answers, "heard %zu\n", heard);
			_exit(0);
		}
	}
}

static void listen_and_leave(int orders)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			      "limpet-attach-%d-0", (int)getpid());

	if (bind(fd, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) ||
	    listen(fd, 8))
		_exit(1);
	if (!fork())
		impersonate(fd, orders, STDOUT_FILENO);
	_exit(0);
}

static pid_t make_process(pid_t number)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uint64_t)&number,
		.set_tid_size = 1,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

int main(void)
{
	int pair[2];
	pid_t first, second;
	char line[8];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	first = fork();
	if (!first) {
		close(pair[0]); /* so that our end is heard */
		listen_and_leave(pair[1]);
	}
	close(pair[1]);
	waitpid(first, NULL, 0);
	second = make_process(first);
	if (second < 0) {
		puts("cannot choose a number");
		return 0;
	}
	if (!second) {
		execlp("sleep", "sleep", "600", NULL);
		_exit(1);
	}
	printf("%d\n", (int)second);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		line[0] = 0;
	send(pair[0], "x", 1, MSG_NOSIGNAL);
	kill(second, SIGKILL);
	waitpid(second, NULL, 0);
	return 0;
}
