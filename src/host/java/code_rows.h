/*
 * Unwind rows of code that HotSpot made: its instructions are followed from the begin to the end.
 */
#pragma once

#include "host/unwind/rules/rows.h"

#include <stdbool.h>

enum code_kind {
	CODE_ROUTINES,    /* functions one behind the other, each called */
	CODE_STUBS,       /* the same, with data between them */
	CODE_METHOD,      /* a compiled method: a prologue, and a frame of known size behind it */
	CODE_ADAPTER,     /* between two calling conventions */
	CODE_FRAMELESS,   /* jumps on: nothing is ever pushed */
	CODE_HANDLER,     /* entered in other ways than by a call, too */
	CODE_EXCEPTION,   /* such a one, by a jump out of a method */
	CODE_SAFEPOINT,   /* the same, which may have to store its return address itself */
	CODE_FORWARDED,   /* the same, in the frame of the routine that jumped to it */
	CODE_ENTRY,       /* the begin of a method in the interpreter */
	CODE_INTERPRETER, /* any other part of it */
	CODE_UNKNOWN,     /* no rules */
};

struct code {
	enum code_kind kind;
	const unsigned char *bytes;
	size_t size;
	/* Of CODE_METHOD: */
	uint32_t frame_size;     /* bytes, with the return address */
	uint32_t frame_complete; /* where the prologue ends */
	/* Of CODE_STUBS: known beginnings of functions; others are recognised by their prologue. */
	const uint32_t *starts;
	size_t start_count;
};

/* Rows from `pc` on for each byte of the code, and UNWIND_BAD where no rule is sure.  -ENOMEM. */
typedef int java_rows_adder(struct rows *rows, uint32_t pc, const struct code *code);

java_rows_adder java_add_rows_x86_64, java_add_rows_aarch64;
