/*
 * Variables of another process: those it was started with, or those in its libc now.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

/* Zero is none.  Entries "NAME=value" that end with zeros, as in /proc. */
struct variables {
	char *text;
	size_t size;
};

/* 0; -errno if they may not be read. */
int variables_read(struct variables *ret, pid_t pid) MUST_CHECK;
/* The same from the array that libc's `environ` points to, if it is found. */
int variables_read_live(struct variables *ret, pid_t pid) MUST_CHECK;
void variables_done(struct variables *variables);

static inline void variables_done_at_scope_end(struct variables *variables)
{
	variables_done(variables);
}

/* NULL: not set. */
const char *variables_value(const struct variables *variables, const char *name);
