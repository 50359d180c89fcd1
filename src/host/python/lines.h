/*
 * Line numbers of Python code: the line of an instruction.
 */
#pragma once

#include "host/python/layout.h"

/* `table` is foreign bytes; `at` counts bytes of instructions, and is negative before the first
 * one.  0: no line. */
unsigned python_line(enum python_lines kind, const unsigned char *table, size_t size,
		     unsigned first_line, int64_t at);
