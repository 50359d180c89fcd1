/*
 * Functions that continue in the handler of an exception (UNWIND_THROWS).
 *
 * Their frames are valid until they install the handler's registers: that is their last call,
 * before they jump away with a computed stack pointer.
 */
#pragma once

#include "host/unwind/object.h"
#include "host/unwind/rules/rows.h"

/* Rows from `first` on are those of the function, whose code begins at `pc`.  Clears the mark where
 * the frame is still valid; keeps it everywhere when the call is not found. */
int throwers_narrow(struct rows *rows, size_t first, const struct object_part *code,
		    uint32_t pc) MUST_CHECK;
