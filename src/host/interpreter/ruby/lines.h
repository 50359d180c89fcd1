/*
 * Line numbers of Ruby code: which instruction begins a line.
 */
#pragma once

#include "host/interpreter/kind.h"
#include "host/interpreter/ruby/layout.h"

/* Of a sequence whose fixed part is `body`.  0, -EFAULT or -ENOMEM. */
int ruby_lines_read(const struct target_memory *memory, const struct ruby_layout *layout,
		    const unsigned char *body, struct function *function) MUST_CHECK;
