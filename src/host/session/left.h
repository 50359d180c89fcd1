/*
 * What stays in the target after detach or unload, one reason a line.
 */
#pragma once

#include "shared/base/macros.h"

#define SESSION_LEFT_MAX 16

struct session_left {
	size_t count;
	char items[SESSION_LEFT_MAX][256];
};

/* Adds a line; a full list stays as it is. */
void session_left_add(struct session_left *left, const char *format, ...) PRINTF_LIKE(2, 3);
