/*
 * The stack memory of a sample: the copy, and beyond it the process's present memory, which may
 * have changed since: what was found through it is a guess.
 */
#pragma once

#include "host/sampling/copy/perf_records.h"
#include "host/sampling/copy/stack_need.h"

#define LIVE_MEMORY_PIECE 4096u

struct live_memory {
	pid_t pid;
	bool was_read;
	uint64_t piece_at, piece_size;
	unsigned char piece[LIVE_MEMORY_PIECE];
};

#define TOUCHED_MAX 32u /* pages */

/* Makes pages present that the process has never written, so that the kernel can copy what lies
 * behind them: empty, as the process would find them. */
void live_memory_touch(pid_t pid, uint64_t start, uint64_t end);
/* For a memory_reader; the context is a struct live_memory. */
int live_memory_read(void *context, uint64_t address, void *into, size_t size);

#define COPIED_LAST 8u /* words; a frame has two */

struct copied_stack {
	const struct perf_sample *sample;
	struct stack_use use; /* what was read beyond the copy */
	struct live_memory beyond;
	bool is_shut; /* memory beyond the copy has changed since: do not read it */
	/* The last words read in the copy before anything beyond it: the outermost frames there. */
	uint64_t last[COPIED_LAST];
	unsigned last_count;
};

/* Drops what was read. */
void copied_stack_begin(struct copied_stack *stack);

/* For a memory_reader; the context is a struct copied_stack. */
int copied_stack_read(void *context, uint64_t address, void *into, size_t size);

/* Whether the thread is still in the calls at which the walk has left the copy: their words in
 * memory equal those in the copy.  Else it has returned from there, and what was read beyond
 * belongs to another stack state. */
bool copied_stack_stands(const struct copied_stack *stack);
