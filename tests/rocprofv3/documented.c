/*
 * As AMD's documentation attaches: variables, attach(pid), a while, detach().  The while lasts
 * until a line comes. usage: documented LIBRARY PID
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*attach)(uint32_t) = library ? (int (*)(uint32_t))dlsym(library, "attach") : NULL;
	int (*detach)(void) = library ? (int (*)(void))dlsym(library, "detach") : NULL;
	int status;

	if (!attach || !detach)
		return 2;
	setenv("ROCPROF_HIP_RUNTIME_API_TRACE", "1", 1);
	setenv("ROCPROF_KERNEL_TRACE", "1", 1);
	setenv("ROCPROF_MEMORY_COPY_TRACE", "1", 1);
	setenv("ROCPROF_MARKER_API_TRACE", "1", 1);
	setenv("ROCPROF_OUTPUT_FORMAT", "csv,json", 1);
	status = attach((uint32_t)atoi(argv[2]));
	printf("attached %d\n", status);
	fflush(stdout);
	if (status)
		return 1;
	(void)getchar();
	status = detach();
	printf("detached %d\n", status);
	return status != 0;
}
