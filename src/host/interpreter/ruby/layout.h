/*
 * The memory layout of objects by version of CRuby.
 */
#pragma once

#include "shared/wire/kernel.h"

#include <stdint.h>

struct ruby_layout {
	unsigned version;               /* 301: 3.1 */
	struct kernel_interpreter walk; /* but for `root` */
	/* In the part of a sequence of instructions that is not its object. */
	unsigned line_table, line_positions, line_count, line_index;
	unsigned text;     /* the characters of an embedded text */
	unsigned is_sized; /* such a text has a length field, else its flags have the length */
};

/* NULL: it is not known. */
const struct ruby_layout *ruby_layout_find(unsigned version);
