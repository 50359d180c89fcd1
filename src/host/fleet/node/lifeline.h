/*
 * Shows by stdin whether home still wants the node part.  Home sends a line at once; if stdin ends
 * after that, the node part must stop, or home has died.  Launchers that forward nothing end it
 * before: then only the time limit counts.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define LIFELINE_GREETING "limpet\n"

struct lifeline {
	int fd;
	bool is_greeted; /* home's line has come */
	bool has_ended;
};

/* Waits for stdin or another descriptor (-1: none), until that time.  True: that one is
 * readable. */
bool lifeline_wait(struct lifeline *lifeline, int other, uint64_t until_ns);

/* Must the node part stop? */
bool lifeline_is_cut(const struct lifeline *lifeline);
