/*
 * A library that the dlopen workloads load and drop for ever.  Its constructor allocates, so that
 * loading it takes the locks of the loader and of the heap together.
 */
#include <stdlib.h>

static void *block;

int plugin_answer(void);

int plugin_answer(void)
{
	return PLUGIN_INDEX;
}

__attribute__((constructor)) static void plugin_begin(void)
{
	block = malloc(1000);
}

__attribute__((destructor)) static void plugin_end(void)
{
	free(block);
}
