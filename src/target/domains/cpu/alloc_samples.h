/*
 * Samples of allocations: for domains/cpu/alloc.c.
 */
#pragma once

#include "target/domains/request.h"
#include "target/hooks/hook.h"

/* In the order of the domain's own table. */
extern const struct traced alloc_samples[];

/* Begins a session; false where there is no memory. */
bool alloc_samples_start(const struct trace_request *request);

/* The call stack of an allocation, after its record. */
void alloc_write_stack(struct writer *writer, const struct hook_frame *frame);
