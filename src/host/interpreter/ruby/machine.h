/*
 * Ruby's virtual machine, if no symbol has its address.
 */
#pragma once

#include "host/interpreter/memory.h"

/* The address of a pointer to it, in this part of the memory; 0: there is none (yet). */
uint64_t ruby_machine_find(const struct target_memory *memory, uint64_t start, uint64_t end);
