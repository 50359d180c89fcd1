/*
 * Functions of API tables: their names, and how their arguments are passed.
 *
 * A signature's text: code of the result, then name:type:code of each argument, separated by '|'.
 * Codes:
 *
 *   p  a pointer            s  a string            h  a structure of one 64-bit handle
 *   e  an enumeration       d  three dimensions    i1..i8, u1..u8  integers, size in bytes
 *   f4 a float              v  nothing             r20  a structure returned in memory
 *   x24, c64  a structure, size in bytes, of words or of letters
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define SIGNATURE_ARGUMENTS 18u

struct signature {
	const char *name, *text;
};

enum argument_source {
	SOURCE_INTEGER,  /* in general registers */
	SOURCE_VECTOR,   /* in a vector register */
	SOURCE_STACK,    /* on the caller's stack */
	SOURCE_POINTED,  /* a general register points to it */
	SOURCE_POINTED2, /* a word on the caller's stack points to it */
};

/* Where a call has an argument, and its offset in the structure that tools see: all arguments, one
 * behind the other. */
struct argument_place {
	uint8_t source, index; /* enum argument_source; register or stack word */
	uint16_t offset, size;
};

struct call_layout {
	uint8_t count;
	uint8_t stack_words;                 /* even */
	uint8_t result_bytes;                /* 0: none */
	bool is_result_pointed, has_vectors; /* has_vectors: some argument is in one */
	struct argument_place places[SIGNATURE_ARGUMENTS];
};

void signature_lay_out(const struct signature *signature, struct call_layout *ret);

/* One argument: its name, type and code end at ':' or '|'. */
struct argument_text {
	const char *name, *type, *code;
	uint16_t size, alignment;
};
/* *at begins as signature->text; false after the last argument. */
bool signature_next(const char **at, struct argument_text *ret);
