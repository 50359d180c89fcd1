/*
 * Stack memory of a sample: the copy, and elsewhere what the process has there now.
 */
#pragma once

#include "host/sampling/copy/perf_sample.h"
#include "host/sampling/copy/stack_need.h"
#include "host/sampling/live_memory.h"

struct copied_stack {
	const struct perf_sample *sample;
	struct stack_use use; /* what was read beyond the copy */
	struct live_memory beyond;
};

/* For a memory_reader; the context is a struct copied_stack. */
int copied_stack_read(void *context, uint64_t address, void *into, size_t size);
