/*
 * What is known of the functions of API tables: names, and how their arguments travel.
 *
 * A signature's text is what the function returns, then name:type:code of each argument, with '|'
 * between.  Codes:
 *
 *   p  a pointer            s  a text              h  a structure of one 64-bit handle
 *   e  an enumeration       d  three dimensions    i1..i8, u1..u8  integers of so many bytes
 *   f4 a float              v  nothing             r20  a structure that is returned in memory
 *   x24, c64  a structure of so many bytes, of words or of letters
 */
#pragma once

#include "target/sdk/abi.h"

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
	SOURCE_POINTED2, /* a word on the caller's stack does */
};

/* Where an argument is found, and where it goes in the structure that tools see. */
struct argument_place {
	uint8_t source, index; /* enum argument_source; of the register or stack word */
	uint16_t offset, size;
};

struct call_layout {
	uint8_t count;
	uint8_t stack_words;                 /* even */
	uint8_t result_bytes;                /* 0: none */
	bool is_result_pointed, has_vectors; /* the latter: among the arguments */
	struct argument_place places[SIGNATURE_ARGUMENTS];
};

void signature_lay_out(const struct signature *signature, struct call_layout *ret);

/* One argument after the other: its name, type and code, which end at ':' or '|'. */
struct argument_text {
	const char *name, *type, *code;
	uint16_t size, alignment;
};
/* Begins at signature->text; false at the end. */
bool signature_next(const char **at, struct argument_text *ret);

/* An API table that runtimes register, or a part of one. */
struct api_table {
	const char *registered;
	uint8_t part; /* which of the tables; of HSA: of those that its root points to */
	bool is_of_hsa;
	bool may_differ; /* where it is longer than we know, any slot may be another */
	uint8_t callback_kind, buffer_kind, extended_kind, request_kind;
	uint16_t table_bit; /* of rocprofiler_at_intercept_table_registration() */
	uint16_t argument_bytes, result_bytes;
	uint16_t count, first; /* first: where its slots begin in those of all tables */
	const struct signature *signatures;
};

#define API_TABLES 12u
#define API_SLOTS  800u
extern const struct api_table api_tables[API_TABLES];

/* NULL: none. */
const struct api_table *api_table_of_callback(int kind);
const struct api_table *api_table_of_buffer(int kind);
