/*
 * Functions that go on in the handler of an exception (UNWIND_THROWS).  Host only.
 *
 * Their frames are true until they install the handler's registers: that is the last they call,
 * before they leave by a stack pointer that is computed.
 */
#pragma once

#include "host/unwind/object.h"
#include "host/unwind/rules/rows.h"

/* Rows from `first` on are those of the function, whose code begins at `pc`.  Takes the mark away
 * where the frame is true still; leaves it everywhere when the place is not found. */
int throwers_narrow(struct rows *rows, size_t first, const struct object_part *code,
		    uint32_t pc) MUST_CHECK;
