/*
 * Names of the frames of a recording, at its end.
 */
#pragma once

#include "host/recorder/samples/stack_list.h"

/* At the end the user waits no longer for lines than this processor time. */
#define NAMING_LINES_NS 2000000000u

/* What names became of. */
struct naming {
	uint64_t frames, named; /* frames, and those of them that have a name */
	uint64_t without_lines; /* not asked for their lines: there was no more time */
};

/* Names of all frames that have none yet.  Lines and inlined functions are looked for as long as
 * that has taken less than `lines_ns` of processor time. */
int naming_write(struct stack_list *stacks, struct recording *recording, uint64_t lines_ns,
		 struct naming *ret, struct err *err) MUST_CHECK;
