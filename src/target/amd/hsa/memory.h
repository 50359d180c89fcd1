/*
 * Device memory of HSA: what the application allocates and frees, and scratch memory.
 */
#pragma once

#include "target/amd/tables/call.h"
#include <stdbool.h>
#include <stdint.h>

/* scratch.c: HSA calls tools through a table of its own when kernels need more of it. */

/* Stores limpet's functions into empty entries, or removes them; functions of another tool stay,
 * and their events are not seen. The caller holds the table's library, and has made it writable. */
void scratch_change(uint64_t *entries, unsigned count, bool is_wanted);
/* True if an entry leads to limpet. */
bool scratch_is_seen(void);

/* memory.c: after these calls. */
void memory_after_region_allocate(struct call_frame *frame, uint64_t end);
void memory_after_pool_allocate(struct call_frame *frame, uint64_t end);
void memory_after_free(struct call_frame *frame, uint64_t end);
void memory_after_handle_create(struct call_frame *frame, uint64_t end);
void memory_after_handle_release(struct call_frame *frame, uint64_t end);
