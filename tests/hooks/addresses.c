/*
 * A library that keeps addresses of functions and compares them, as allocators that can be replaced
 * do: its own function's, which calls itself for ever if the comparison goes wrong, and libc's.
 */
#include "addresses.h"

#include <stdlib.h>

static addresses_function *implementation;
addresses_function *const addresses_table[] = { addresses_own };

long addresses_own(long number)
{
	if (implementation && implementation != addresses_own)
		return implementation(number);
	return number + 1;
}

/* Only ever called. */
long addresses_count(long more)
{
	static long count;

	return count += more;
}

long addresses_meet(long number)
{
	void *memory = malloc(64);
	long result;

	if (!implementation)
		implementation = addresses_own;
	*(volatile char *)memory = 1;
	result = addresses_own(number) + (addresses_count(1) > 0);
	free(memory);
	return result;
}

addresses_free *addresses_of_free(void)
{
	return free;
}
