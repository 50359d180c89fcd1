/*
 * Calls the stand-in's functions through its tables, as a loader would: a hundred rounds for each
 * line on stdin, and then says what was called.
 */
#include "standin_cl.h"

#include <dlfcn.h>
#include <stdio.h>

#define ROUNDS 100

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

int main(int argc, char **argv)
{
	void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
	by_name *ask = library ? (by_name *)dlsym(library, "clGetExtensionFunctionAddress") : NULL;
	struct standin_counts *(*counts)(void) = library ? (struct standin_counts * (*)(void))
								   dlsym(library, "standin_counts")
							 : NULL;
	get_platforms *get = ask ? (get_platforms *)ask("clIcdGetPlatformIDsKHR") : NULL;
	char line[16];

	if (!get || !counts || get(2, platforms, NULL))
		return 2;
	printf("{\"ready\":true}\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned right = 0;

		*counts() = (struct standin_counts){ 0 };
		for (unsigned i = 0; i < ROUNDS; i++)
			right += one_round();
		printf("{\"right\":%u,\"old\":%lu,\"beyond\":%lu,\"current\":%lu,\"newer\":%lu,"
		       "\"extension\":%lu}\n",
		       right, counts()->old, counts()->beyond, counts()->current, counts()->newer,
		       counts()->extension);
		fflush(stdout);
	}
	return 0;
}
