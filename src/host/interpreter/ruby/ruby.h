/*
 * Private to the kind Ruby: layouts by version, the virtual machine, lines.
 */
#pragma once

#include "host/interpreter/kind.h"

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

/* The address of a pointer to the virtual machine, in this part of the memory, if no symbol has it;
 * 0: there is none (yet). */
uint64_t ruby_machine_find(const struct target_memory *memory, uint64_t start, uint64_t end);

/* Reads the lines of a sequence whose fixed part is `body`.  0, -EFAULT or -ENOMEM. */
int ruby_lines_read(const struct target_memory *memory, const struct ruby_layout *layout,
		    const unsigned char *body, struct function *function) MUST_CHECK;
