/*
 * The Java of a process that is sampled: found when its library is mapped, and looked at now and
 * then.
 */
#pragma once

#include "host/java/java.h"
#include "host/sampling/engine_code.h"

/* Zero is none yet. */
struct java_code {
	struct java *java;
	struct engine_code others; /* of a process without Java */
	bool was_sought;           /* in the mappings as they are */
	uint64_t failing_since_ns; /* 0: it does not */
	char why[256]; /* why there are no rules for its code; "": there are, or it is no Java */
};

/* Gives the space rules for the code that is there now; space->generation tells of changes.  False:
 * it was looked at a moment ago, and is not now. */
bool java_code_look(struct java_code *code, struct space *space);
/* Mappings have changed: it may be there now. */
void java_code_seek_again(struct java_code *code);
void java_code_done(struct java_code *code);
