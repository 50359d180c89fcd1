/*
 * Names of the frames of a recording, at its end.
 */
#pragma once

#include "host/recorder/samples/stack_list.h"

/* The limit for resolving lines at the end: the user waits for it. */
#define NAMING_LINES_NS 2000000000u

/* The result of naming. */
struct naming {
	uint64_t frames, named; /* frames, and those of them that have a name */
	uint64_t without_lines; /* lines not resolved: the time was over */
};

/* Names all frames that have none yet.  Resolves lines and inlined functions until that has taken
 * `lines_ns` of processor time. */
int naming_write(struct stack_list *stacks, struct recording *recording, uint64_t lines_ns,
		 struct naming *ret, struct err *err) MUST_CHECK;
