/*
 * Processes that have ended and that their parents have not reaped.  The kernel keeps only their
 * names: a rank that has died has no number any more.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

struct zombies {
	size_t count;
	pid_t first, parent; /* of the first */
	char name[32];
};

/* Those whose name matches, with * and ?; none if they cannot be read.  Runs on nodes. */
void zombies_find(struct zombies *ret, const char *name);
