/*
 * One process number that many processes have, one after the other: each lives for some
 * milliseconds and runs another program than the one before.  Prints the number, and at the end of
 * stdin how many of them ended before they were killed: none should.
 */
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t make(pid_t number)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = number ? (uint64_t)&number : 0,
		.set_tid_size = number ? 1 : 0,
	};
	static unsigned count;
	pid_t made = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (made == 0) {
		if (count % 2)
			execlp("sleep", "sleep", "600", NULL);
		execlp("tail", "tail", "-f", "/dev/null", NULL);
		_exit(1);
	}
	count++;
	return made;
}

/* True if it had ended by itself.  By a descriptor: a number below 1 would mean many processes. */
static bool end_process(pid_t pid)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	bool has_ended = waitpid(pid, NULL, WNOHANG) == pid;

	if (!has_ended && process >= 0 &&
	    !syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0))
		waitpid(pid, NULL, 0);
	close(process);
	return has_ended;
}

static bool is_told_to_end(int wait_ms)
{
	struct pollfd wait = { STDIN_FILENO, POLLIN, 0 };

	return poll(&wait, 1, wait_ms) > 0;
}

int main(int argc, char **argv)
{
	pid_t number = make(0), now = number;
	unsigned deaths = 0;

	if (number <= 0)
		return 1;
	if (argc > 1)
		srand((unsigned)atoi(argv[1]));
	printf("%d\n", (int)number);
	fflush(stdout);
	while (now == number && !is_told_to_end(rand() % 200)) {
		deaths += end_process(now);
		now = make(number);
	}
	if (now == number)
		printf("%u died\n", deaths + end_process(now));
	else
		puts("cannot choose a number");
	return 0;
}
