/*
 * Code that is entered by a trampoline.
 */
#pragma once

#include "host/unwind/arch/code.h"

/* See struct code_reader. */
int entered_add_rows(const struct object_part *piece, struct rows *rows) MUST_CHECK;
