/*
 * A program whose every name is chosen to be obeyed by whoever shows it.  The test puts it at a
 * hostile path, and hostile bytes in place of placeholder_function, in this and in the library.
 *
 *   hostile_names LIBRARY FILE THREAD-NAME ...
 *
 * One thread computes in the program, one in the library, one reads the file for ever.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *path, *thread_name;
static volatile unsigned long turns;

__attribute__((noinline, visibility("hidden"))) void placeholder_function_______________(void);

void placeholder_function_______________(void)
{
	for (unsigned long i = 0; i < 100000; i++)
		turns += i;
}

static void *compute(void *function)
{
	prctl(PR_SET_NAME, thread_name);
	for (;;)
		((void (*)(void))function)();
	return NULL;
}

static void *read_file(void *unused)
{
	char byte;

	prctl(PR_SET_NAME, thread_name);
	for (;;) {
		int fd = open(path, O_RDONLY);

		if (fd < 0 || read(fd, &byte, 1) != 1)
			_exit(1);
		close(fd);
		usleep(1000);
	}
	return unused;
}

int main(int count, char **arguments)
{
	void *library = count > 3 ? dlopen(arguments[1], RTLD_NOW) : NULL;
	void *function = library ? dlsym(library, "library_turn") : NULL;
	pthread_t thread;

	if (!function)
		return 1;
	path = arguments[2];
	thread_name = arguments[3];
	pthread_create(&thread, NULL, compute, (void *)placeholder_function_______________);
	pthread_create(&thread, NULL, compute, function);
	pthread_create(&thread, NULL, read_file, NULL);
	prctl(PR_SET_NAME, thread_name);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
