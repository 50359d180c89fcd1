/*
 * STAND-IN, for tests only.  A program that loads the stand-in runtimes when it is told to, and
 * unloads them again.
 *
 *   tables          loads them, and prints the addresses of their tables
 *   go N            N calls of two functions; prints "did NAME COUNT" lines
 *   close           unloads them; "did close 1" when they are gone
 *   drop            gives them back, whoever else has them
 *   flip N          N times: loads HIP, calls it, unloads it
 *   stir N          maps the file STANDIN_MAPPED; N times: maps memory and unmaps it; says how
 *                   often AMD's register library was asked for its list, and its variables seen
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
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

static void drop_all(void)
{
	for (unsigned i = 0; i < LIBRARIES; i++)
		dlclose(libraries[i]);
}

static void nap(long us)
{
	struct timespec pause = { 0, us * 1000 };

	nanosleep(&pause, NULL);
}

/* Loaded for one to three milliseconds. */
static void flip(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		libraries[0] = dlopen(names[0], RTLD_NOW | RTLD_LOCAL);
		if (!libraries[0]) {
			printf("wrong %s\n", dlerror());
			exit(1);
		}
		((int (*)(int))function_of(0, "hipSetDevice"))(0);
		nap(1000 + 400 * (i % 6));
		dlclose(libraries[0]);
		nap(300);
	}
}

static void map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		printf("wrong %s\n", path);
	close(fd);
}

static void stir(unsigned count)
{
	unsigned (*asked)(void) = (unsigned (*)(void))function_of(0, "standin_amd_asked");
	unsigned before = asked(), seen = 0;

	map_file(getenv("STANDIN_MAPPED"));
	for (unsigned i = 0; i < count; i++) {
		void *memory = mmap(NULL, 4096u << i % 3, PROT_READ | (i % 2 ? PROT_EXEC : 0),
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (unsigned part = 0; part < 10; part++) {
			nap(1000);
			seen += getenv("ROCPROFILER_REGISTER_FORCE_LOAD") != NULL;
		}
		if (i % 4)
			munmap(memory, 4096u << i % 3);
	}
	printf("did asked %u\ndid seen %u\n", asked() - before, seen);
}

static void obey(const char *word, unsigned number)
{
	if (!strcmp(word, "tables"))
		open_all();
	else if (!strcmp(word, "go"))
		go(number);
	else if (!strcmp(word, "close"))
		close_all();
	else if (!strcmp(word, "drop"))
		drop_all();
	else if (!strcmp(word, "flip"))
		flip(number);
	else if (!strcmp(word, "stir"))
		stir(number);
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
		obey(word, number);
		printf("end\n");
		fflush(stdout);
	}
	return 0;
}
