/*
 * Rows for code of HotSpot on aarch64 that was followed.
 */
#pragma once

#include "host/unwind/arch/aarch64/follow.h"

/* The rules at one instruction.  -ENOMEM. */
int java_add_rules(struct rows *rows, uint32_t pc, const struct follow *follow,
		   uint32_t number) MUST_CHECK;

/* One part of the interpreter; is_entry: methods begin there.  -ENOMEM. */
int interpreter_add_rows(struct rows *rows, uint32_t pc, struct follow *follow,
			 bool is_entry) MUST_CHECK;
