/*
 * A list of reasons why something stays in the target.
 */
#include "host/session/options.h"

#include <stdarg.h>
#include <stdio.h>

void session_left_add(struct session_left *left, const char *format, ...)
{
	va_list args;

	if (left->count == SESSION_LEFT_MAX)
		return;
	va_start(args, format);
	vsnprintf(left->items[left->count++], sizeof(left->items[0]), format, args);
	va_end(args);
}
