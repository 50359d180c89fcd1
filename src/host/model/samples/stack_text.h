/*
 * Stacks as text: the functions in them, and where each is.
 */
#pragma once

#include "host/model/samples/samples.h"

/* Iterates over a stack, from its innermost function; the inlined functions of a frame come
 * first. */
struct stack_cursor {
	uint32_t stack, location;
	uint32_t frame; /* of the function that stack_next() found last */
};

/* NULL: there are no more. */
const struct sample_location *stack_next(const struct samples *samples,
					 struct stack_cursor *cursor);

/* "parse (json.c:120)", "parse (libjson.so)", or "libjson.so+0x1234" without a name. */
void location_print(const struct samples *samples, const struct sample_location *location,
		    char *ret, size_t room);

/* The mark for missing callers of an incomplete stack; "" for a complete one. */
#define STACK_MARK_MAX 64u
const char *stack_mark(enum stack_end end, char ret[STACK_MARK_MAX]);
