/*
 * Rules for code that runtimes generate: read from a Java, or, for those that keep no frame
 * pointers, found in their code; else a mark that there are none, so that no stack is walked by a
 * register that means something else.
 */
#pragma once

#include "host/java/java.h"

/* Zero is: nothing is known yet. */
struct generated_code {
	struct java *java;         /* NULL: none */
	bool was_sought;           /* in the present mappings */
	uint64_t failing_since_ns; /* 0: not failing */
	char why[256];             /* why Java's code has no rules; "": it has, or is no Java */
	/* Of a process without Java. */
	unsigned generation; /* of the space when its mappings were read */
	bool has_rules;
};

/* Sets the space's rules for the present code; space->generation shows changes.  What cannot be
 * read now stays as it was.  False: skipped, as the last reading was a moment ago. */
bool generated_code_read(struct generated_code *code, struct space *space);
/* Mappings have changed: a Java may be mapped now. */
void generated_code_seek_again(struct generated_code *code);
void generated_code_done(struct generated_code *code);
