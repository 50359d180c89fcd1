/*
 * The Java of a sampled process: found when its library is mapped, then read periodically.
 */
#pragma once

#include "host/java/java.h"
#include "host/sampling/engine_code.h"

/* Zero is: none yet. */
struct java_code {
	struct java *java;
	struct engine_code others; /* of a process without Java */
	bool was_sought;           /* in the present mappings */
	uint64_t failing_since_ns; /* 0: not failing */
	char why[256];             /* why its code has no rules; "": it has, or is no Java */
};

/* Sets the space's rules for the present code; space->generation shows changes.  False: skipped, as
 * the last reading was a moment ago. */
bool java_code_look(struct java_code *code, struct space *space);
/* Mappings have changed: it may be mapped now. */
void java_code_seek_again(struct java_code *code);
void java_code_done(struct java_code *code);
