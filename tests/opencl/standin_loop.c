/*
 * Calls the stand-in's functions through its tables, as a loader would: a hundred rounds for each
 * empty line on stdin, and then says what was called.  `look`: is the table hooked?  `again`: the
 * same, after the driver was unloaded and loaded again.  `flee`: the same, where it was unloaded as
 * soon as it was hooked, a few times.
 */
#define _GNU_SOURCE
#include "standin_cl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS    100
#define FLIGHTS   12 /* each to another address */
#define STAY_US   100
#define STAYS_MAX 20000
#define GAP       0x4000 /* no more than the driver has */
#define AWAY_US   20000  /* somebody who looks often looks meanwhile */

typedef int plain(void *object);
typedef int get_platforms(unsigned room, const struct standin_platform **ret, unsigned *count);
typedef void *by_name(const char *name);
typedef void *by_name_for(const void *platform, const char *name);
typedef int fill(void *queue, void *to, const void *pattern, size_t pattern_size, size_t size,
		 unsigned count, const void *list, void **event);

static const struct standin_platform *platforms[2];

static int call(unsigned platform, unsigned slot)
{
	return ((plain *)platforms[platform]->table[slot])(NULL);
}

static int one_round(void)
{
	by_name_for *find = (by_name_for *)platforms[1]->table[STANDIN_BY_NAME_FOR];
	fill *extension = (fill *)find(platforms[1], "clEnqueueMemFillINTEL");

	return call(0, STANDIN_FINISH) == -7 && call(0, STANDIN_OLD_SLOTS) == 0 &&
	       call(1, STANDIN_FINISH) == 0 && call(1, STANDIN_SLOTS) == -9 &&
	       call(1, STANDIN_SLOTS + 1) == -9 &&
	       extension(NULL, NULL, NULL, 0, 0, 0, NULL, NULL) == -5;
}

static void *library;
static struct standin_counts *(*counts)(void);

static int open_driver(const char *path)
{
	by_name *ask;
	get_platforms *get;

	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ask = library ? (by_name *)dlsym(library, "clGetExtensionFunctionAddress") : NULL;
	get = ask ? (get_platforms *)ask("clIcdGetPlatformIDsKHR") : NULL;
	counts = library ? (struct standin_counts * (*)(void)) dlsym(library, "standin_counts")
			 : NULL;
	return !get || !counts || get(2, platforms, NULL);
}

/* Does a word of its table lead to somewhere else? */
static int is_hooked(void)
{
	Dl_info there;

	return !dladdr(platforms[1]->table[STANDIN_FINISH], &there) ||
	       !strstr(there.dli_fname, "standin_cl");
}

static void work(void)
{
	unsigned right = 0;

	*counts() = (struct standin_counts){ 0 };
	for (unsigned i = 0; i < ROUNDS; i++)
		right += one_round();
	printf("{\"right\":%u,\"old\":%lu,\"beyond\":%lu,\"current\":%lu,\"newer\":%lu,"
	       "\"extension\":%lu}\n",
	       right, counts()->old, counts()->beyond, counts()->current, counts()->newer,
	       counts()->extension);
}

static int flee(const char *path)
{
	for (unsigned i = 0; i < FLIGHTS; i++) {
		for (unsigned j = 0; j < STAYS_MAX && !is_hooked(); j++)
			usleep(STAY_US);
		if (dlclose(library))
			return -1;
		usleep(AWAY_US);
		if (mmap(NULL, GAP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ||
		    open_driver(path))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "";
	char line[16];

	if (open_driver(path))
		return 2;
	printf("{\"ready\":true}\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "again\n") && (dlclose(library) || open_driver(path)))
			return 3;
		if (!strcmp(line, "flee\n") && flee(path))
			return 4;
		if (!strcmp(line, "\n"))
			work();
		else
			printf("{\"hooked\":%d}\n", is_hooked());
		fflush(stdout);
	}
	return 0;
}
