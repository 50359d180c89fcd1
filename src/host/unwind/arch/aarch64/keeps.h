/*
 * Functions that leave a register alone which calls may change: assembly keeps its return address
 * in one of them across calls of its own helpers.
 */
#pragma once

#include "host/unwind/arch/aarch64/follow.h"

/* Whether the function at this instruction calls nobody and never writes to the register.  A piece
 * has so many steps for all that are asked for: false behind the last one. */
bool function_keeps(const struct follow *follow, uint64_t number, unsigned kept);
