/*
 * Functions that leave a register alone which calls may change: assembly keeps its return address
 * in one of them across calls of its own helpers.
 */
#pragma once

#include "host/unwind/arch/aarch64/follow.h"

/* Whether the function at this instruction calls nobody and never writes to the register. */
bool function_keeps(const struct follow *follow, uint64_t number, unsigned kept);
