/*
 * Code of runtimes that keep no frame pointers: gets rules where they can be found, else a mark
 * that there are none, so that no stack is walked by a register that means something else.
 */
#pragma once

#include "host/unwind/space.h"

/* Zero is empty. */
struct engine_code {
	unsigned generation; /* of the space at the last look */
	bool has_rules;
};

/* Reads the mappings when they have changed, and sets rules in the space.  What cannot be read, or
 * has no memory, stays as it was. */
void engine_code_look(struct engine_code *code, struct space *space);
