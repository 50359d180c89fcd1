/*
 * namesake PID COMMAND...: runs a command as the process with this number, which must be free.
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t wanted = argc > 2 ? atoi(argv[1]) : 0;
	struct clone_args how = {
		.exit_signal = SIGCHLD,
		.set_tid = (uint64_t)(uintptr_t)&wanted,
		.set_tid_size = 1,
	};
	long pid = syscall(SYS_clone3, &how, sizeof(how));

	if (pid < 0)
		perror("clone3");
	if (pid == 0)
		execvp(argv[2], argv + 2);
	return pid > 0 && waitpid((pid_t)pid, NULL, 0) == pid ? EXIT_SUCCESS : EXIT_FAILURE;
}
