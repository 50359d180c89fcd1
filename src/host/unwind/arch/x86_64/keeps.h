/*
 * Functions that leave registers alone which calls may change: assembly keeps its stack pointer in
 * one of them across calls of its own helpers.
 */
#pragma once

#include "host/unwind/arch/x86_64/trial.h"

/* The registers, a bit for each, that the function which is called there never writes to; 0 where
 * that cannot be said.  What is read of it is taken from the steps. */
uint16_t kept_by_call(const struct trial *trial, uint32_t at, const struct instruction *call,
		      uint64_t *steps_left);
