/*
 * Functions that a compiler may call in code without libc. Runs inside the target.
 */
#include <stddef.h>

void *memset(void *to, int byte, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);
int memcmp(const void *a, const void *b, size_t size);

void *memset(void *to, int byte, size_t size)
{
	unsigned char *at = to;

	while (size--)
		*at++ = (unsigned char)byte;
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	unsigned char *at = to;
	const unsigned char *source = from;

	while (size--)
		*at++ = *source++;
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *x = a, *y = b;

	for (; size; x++, y++, size--)
		if (*x != *y)
			return *x - *y;
	return 0;
}
