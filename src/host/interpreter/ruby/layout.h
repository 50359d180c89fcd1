/*
 * What the objects of a version of CRuby look like in memory.
 */
#pragma once

#include "shared/wire/kernel.h"

#include <stdint.h>

struct ruby_layout {
	unsigned version;               /* 301: 3.1 */
	struct kernel_interpreter walk; /* but for `root` */
	/* In the part of a sequence of instructions that is not its object. */
	unsigned line_table, line_positions, line_count, line_index;
	unsigned text;     /* where the characters of a text begin that lie in it */
	unsigned is_sized; /* such a text has a length of its own, else its flags tell it */
};

/* NULL: it is not known. */
const struct ruby_layout *ruby_layout_find(unsigned version);
