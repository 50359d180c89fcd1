/*
 * Runs inside the target: no libc, no allocation.
 */
#include "target/runtime/text.h"

#include <stdbool.h>

size_t text_add(char *text, size_t room, size_t at, const char *more)
{
	while (*more && at + 1 < room)
		text[at++] = *more++;
	text[at] = 0;
	return at;
}

size_t text_add_number(char *text, size_t room, size_t at, unsigned long number)
{
	char digits[24];
	size_t i = sizeof(digits);

	digits[--i] = 0;
	do {
		digits[--i] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return text_add(text, room, at, digits + i);
}

size_t text_length(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

bool text_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

int text_fail(char *text, size_t room, int code, const char *reason)
{
	text_add(text, room, 0, reason);
	return code;
}

void text_add_complaint(char *text, size_t room, const char *name, const char *reason)
{
	size_t at = text_add(text, room, text_length(text), text[0] ? "; " : "");

	at = text_add(text, room, at, name);
	at = text_add(text, room, at, ": ");
	text_add(text, room, at, reason);
}
