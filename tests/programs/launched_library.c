/*
 * A library that executes the program once more before it begins, as some do to change what only
 * execve can: the layout of the memory, or the variables of the dynamic linker.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void again(int argc, char **argv)
{
	if (!argc || !strstr(argv[0], "launched"))
		return;
	unsetenv("LD_PRELOAD");
	execv("/proc/self/exe", argv);
}
