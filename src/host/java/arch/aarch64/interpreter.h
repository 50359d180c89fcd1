/*
 * Frames of HotSpot's interpreter on aarch64.
 */
#pragma once

#include "host/unwind/arch/aarch64/follow.h"

/* One part of the interpreter; is_entry: methods begin there.  -ENOMEM. */
int interpreter_add_rows(struct rows *rows, uint32_t pc, struct follow *follow,
			 bool is_entry) MUST_CHECK;
