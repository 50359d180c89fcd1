/*
 * Whether home still wants us: our stdin.  Home sends a line at once; when stdin ends after that,
 * we are to stop, or home has died.  Where launchers forward nothing it ends before: then only the
 * time limit counts.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define LIFELINE_GREETING "limpet\n"

struct lifeline {
	int fd;
	bool is_greeted; /* something has come */
	bool has_ended;
};

/* Waits for it or for another descriptor (-1: none), until that time.  True: that one is readable.
 */
bool lifeline_wait(struct lifeline *lifeline, int other, uint64_t until_ns);

/* Are we to stop? */
bool lifeline_is_cut(const struct lifeline *lifeline);
