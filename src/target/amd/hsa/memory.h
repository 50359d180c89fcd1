/*
 * Device memory that the application allocates and frees by HSA's functions: after these calls.
 */
#pragma once

#include "target/amd/tables/call.h"

void memory_after_region_allocate(struct call_frame *frame, uint64_t end);
void memory_after_pool_allocate(struct call_frame *frame, uint64_t end);
void memory_after_free(struct call_frame *frame, uint64_t end);
void memory_after_handle_create(struct call_frame *frame, uint64_t end);
void memory_after_handle_release(struct call_frame *frame, uint64_t end);
