/*
 * Samples of allocations: for domains/cpu/alloc.c.
 */
#pragma once

#include "target/hooks/hook.h"

/* In the order of the domain's own table. */
extern const struct traced alloc_samples[];

/* Begins a session with a sample for so many bytes on average; false where there is no memory. */
bool alloc_samples_start(uint64_t bytes);

/* The call stack of an allocation, after its record. */
void alloc_write_stack(struct writer *writer, const struct hook_frame *frame);
