/*
 * Functions that keep x29 as their frame pointer while their rules count from sp.
 */
#pragma once

#include "host/unwind/arch/code.h"

/* See struct code_reader. */
void held_mark(const struct object_part *code, uint32_t pc, struct unwind_row *rows, size_t count);
