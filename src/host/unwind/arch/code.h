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
	/* Sees in the code of an entry whether fp points to where the caller's is saved, and marks
	 * its rows (UNWIND_FP_HELD).  `pc` is that of the code's begin. */
	void (*mark)(const struct object_part *code, uint32_t pc, struct unwind_row *rows,
		     size_t count);
	/* Code that is made while the program runs, with a trampoline at its begin: rows of that,
	 * the last of which holds for all code that it leads to.  -ENODATA: there is none. */
	int (*add_entered)(const struct object_part *piece, struct rows *rows);
};

extern const struct code_reader code_of_aarch64;
