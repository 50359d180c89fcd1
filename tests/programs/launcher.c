/*
 * Starts a program and waits for it, as launchers do.  Built without a dynamic linker, so that it
 * cannot be attached itself.
 * usage: launcher PROGRAM [ARGUMENT...]
 */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t child = argc > 1 ? fork() : -1;
	int status = 0;

	if (!child) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	return child < 0 || waitpid(child, &status, 0) != child || status;
}
