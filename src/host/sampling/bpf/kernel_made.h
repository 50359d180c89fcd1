/*
 * Tables of code that processes make while they run, where kernel programs find them.
 */
#pragma once

#include "host/sampling/bpf/kernel_tables.h"

#define KERNEL_PIECES_MAX 17u /* of one mapping: what was made, and what lies between */

/* Cuts a mapping where made code begins and ends: pieces[0] is all of it.  How many there are. */
size_t kernel_made_split(struct kernel_tables *tables, const struct space *space,
			 const struct space_range *range,
			 struct kernel_range pieces[KERNEL_PIECES_MAX]);

/* The process has ended: others may have its room. */
void kernel_made_forget(struct kernel_tables *tables, pid_t pid);
