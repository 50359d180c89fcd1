/*
 * Rows for code of HotSpot on aarch64 that was followed.
 */
#pragma once

#include "host/unwind/arch/aarch64/follow.h"

#define INSTRUCTION_BYTES 4u

/* No rule is sure from there on.  -ENOMEM. */
int java_add_nothing(struct rows *rows, uint32_t pc) MUST_CHECK;
/* The rules at one instruction.  -ENOMEM. */
int java_add_rules(struct rows *rows, uint32_t pc, const struct follow *follow,
		   uint32_t number) MUST_CHECK;
