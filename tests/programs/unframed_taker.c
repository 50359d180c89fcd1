/*
 * Takes blocks when a line comes, in functions that keep no frame pointers, says "done" and waits.
 */
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 20000
#define BYTES  200

static void *volatile taken;

static __attribute__((noinline)) void take_inner(size_t size)
{
	taken = malloc(size);
	__asm__ volatile("");
}

static __attribute__((noinline)) void take_outer(size_t size)
{
	take_inner(size);
	__asm__ volatile("");
}

int main(void)
{
	char line[16];

	taken = malloc(1); /* bound before anybody looks */
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < BLOCKS; i++)
		take_outer(BYTES);
	puts("done");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : 1;
}
