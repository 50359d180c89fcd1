/*
 * Functions of all sorts, to be named: seen from outside, static, inlined, called through the
 * procedure linkage table.  Built with debug information; it is never run.
 */
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;

static inline __attribute__((always_inline)) void inlined_twice(int value)
{
	sink += value * 3;
}

static inline __attribute__((always_inline)) void inlined_once(int value)
{
	inlined_twice(value + 1);
}

static __attribute__((noinline)) void quiet(int value)
{
	inlined_once(value);
	sink ^= value;
}

void loud(int value);

__attribute__((noinline)) void loud(int value)
{
	quiet(value);
	puts("loud");
	sink--;
}

int main(int argc, char **argv)
{
	(void)argv;
	loud(argc);
	free(malloc((size_t)argc));
	return sink;
}
