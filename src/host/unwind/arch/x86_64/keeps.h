/*
 * Functions that do not change registers which calls may change: assembly keeps its stack pointer
 * in one of them across calls of its own helpers.
 */
#pragma once

#include "host/unwind/arch/x86_64/trial.h"

/* The registers, a bit for each, that the called function never writes; 0 where that is not known.
 * Its instructions count against steps_left. */
uint16_t kept_by_call(const struct trial *trial, uint32_t at, const struct instruction *call,
		      uint64_t *steps_left);
