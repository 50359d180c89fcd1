/*
 * Functions that do not change a register which calls may change: assembly keeps its return address
 * in one of them across calls of its own helpers.
 */
#pragma once

#include "host/unwind/arch/aarch64/follow.h"

/* Whether the function at this instruction calls no other and never writes to the register.  A
 * piece has a limited number of steps for all queries: false after the last one. */
bool function_keeps(const struct follow *follow, uint64_t number, unsigned kept);
