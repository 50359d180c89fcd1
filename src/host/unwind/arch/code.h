/*
 * Rules by instructions, for code that no entry is for: stubs of the linker, assembly, libraries
 * without .eh_frame, the vdso.  One implementation per machine folder; x86-64 has none.
 */
#pragma once

#include "host/unwind/rows.h"

/* Where functions begin, as far as that is known: a bit for each instruction of the code. */
struct code_begins {
	uint64_t first, count;
	unsigned char *named;  /* by a symbol, or as the begin of a section */
	unsigned char *called; /* by what looks like a call, and may be data */
};

struct code_reader {
	/* -ENOMEM. */
	int (*find_begins)(const struct object *object, struct code_begins *ret);
	/* Tells the rules of a piece of code, as rules_run() does.  -ENOMEM. */
	int (*read)(const struct object_part *piece, const struct code_begins *begins,
		    const struct rules_listener *listener);
};

extern const struct code_reader code_of_aarch64;
