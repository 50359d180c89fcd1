/*
 * Tables of code that processes generate, in the maps of the kernel programs.
 */
#pragma once

#include "host/sampling/bpf/kernel_tables.h"

#define KERNEL_PIECES_MAX 17u /* of one mapping: generated code and the gaps */

/* Splits a mapping where generated code begins and ends: pieces[0] is all of it.  Returns their
 * number. */
size_t kernel_made_split(struct kernel_tables *tables, const struct space *space,
			 const struct space_range *range,
			 struct kernel_range pieces[KERNEL_PIECES_MAX]);

/* The process has ended: frees its room for others. */
void kernel_made_forget(struct kernel_tables *tables, pid_t pid);
