/*
 * Code of runtimes that keep no frame pointers: rules where they can be found, and else the word
 * that there are none, so that no stack is walked by a register that means something else.
 */
#pragma once

#include "host/unwind/space.h"

/* Zero is nothing yet. */
struct engine_code {
	unsigned generation; /* of the space as it was looked at last */
	bool has_rules;
};

/* Looks at the mappings when they have changed, and gives the space rules.  What cannot be read, or
 * kept in memory, is left as it was. */
void engine_code_look(struct engine_code *code, struct space *space);
