/*
 * Processes that have ended and that their parents have not collected.  The kernel keeps their
 * names alone: a rank that has died has no number any more.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

struct zombies {
	size_t count;
	pid_t first, parent; /* of the first */
	char name[32];
};

/* Those of this name, with * and ?; none where they cannot be read.  Runs on nodes. */
void zombies_find(struct zombies *ret, const char *name);
