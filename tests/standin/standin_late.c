/*
 * STAND-IN, for tests only.  A program that loads the stand-in runtimes when it is told to, and
 * unloads them again.
 *
 *   tables          loads them, and prints the addresses of their tables
 *   go N            N calls of two functions; prints "did NAME COUNT" lines
 *   close           unloads them; "did close 1" when they are gone
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARIES 2

static const char *const names[LIBRARIES] = { "libamdhip64.so.7", "libroctx64.so.4" };
static void *libraries[LIBRARIES];

static void *function_of(unsigned library, const char *name)
{
	void *function = dlsym(libraries[library], name);

	if (!function)
		printf("wrong %s\n", dlerror());
	return function;
}

static void open_all(void)
{
	for (unsigned i = 0; i < LIBRARIES; i++) {
		libraries[i] = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (!libraries[i]) {
			printf("wrong %s\n", dlerror());
			exit(1);
		}
	}
	((int (*)(int))function_of(0, "hipSetDevice"))(0);
	((int (*)(void))function_of(1, "roctxRangePop"))();
	((void (*)(void))function_of(0, "standin_hip_print"))();
	((void (*)(void))function_of(1, "standin_roctx_print"))();
}

static void go(unsigned count)
{
	int (*device_of)(int *) = (int (*)(int *))function_of(0, "hipGetDevice");
	void (*mark)(const char *) = (void (*)(const char *))function_of(1, "roctxMarkA");
	int device;

	for (unsigned i = 0; i < count; i++) {
		device_of(&device);
		mark("call");
	}
	printf("did hipGetDevice %u\ndid roctxMarkA %u\n", count, count);
}

static void close_all(void)
{
	for (unsigned i = 0; i < LIBRARIES; i++)
		dlclose(libraries[i]);
	printf("did close %d\n", !dlopen(names[0], RTLD_NOW | RTLD_NOLOAD));
}

int main(void)
{
	char line[64], word[16];

	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned number = 0;

		if (sscanf(line, "%15s %u", word, &number) < 1)
			continue;
		if (!strcmp(word, "tables"))
			open_all();
		else if (!strcmp(word, "go"))
			go(number);
		else if (!strcmp(word, "close"))
			close_all();
		printf("end\n");
		fflush(stdout);
	}
	return 0;
}
