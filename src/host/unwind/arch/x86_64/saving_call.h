/*
 * Calls whose callee saves a register of the caller on the stack.
 */
#pragma once

#include "host/unwind/arch/code.h"

/* See code.h. */
bool saving_call_find(const struct object *object, const struct object_part *piece, unsigned number,
		      struct saving_call *call);
