/*
 * A library that limpet loads: it allocates for some seconds on limpet's thread, and so has a lock
 * of the heap most of the time.
 */
#include <stdlib.h>
#include <time.h>

#define SECONDS   3
#define BLOCKS    64
#define SIZE_MIN  2000 /* more than threads keep for themselves */
#define SIZE_STEP 777

static void *volatile blocks[BLOCKS];

__attribute__((constructor)) static void churn(void)
{
	time_t end = time(NULL) + SECONDS;

	while (time(NULL) < end) {
		for (unsigned i = 0; i < BLOCKS; i++)
			blocks[i] = malloc(SIZE_MIN + i * SIZE_STEP);
		for (unsigned i = 0; i < BLOCKS; i++)
			free(blocks[i]);
	}
}
