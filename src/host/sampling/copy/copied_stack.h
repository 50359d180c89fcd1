/*
 * The stack memory of a sample: the copy, and beyond it the process's present memory, which may
 * have changed since: what was found through it is a guess.
 *
 * How much of a stack the copies must hold: where the rings have room, copies have the maximum size
 * at first, until enough stacks were walked to know the need.  Then stacks that did not fit count:
 * for the first that is cut off the copy grows at once, for others when there are many of them.
 * What no copy can hold, since it lies on another stack or farther up, is read from the process as
 * soon as the sample arrives.
 */
#pragma once

#include "host/sampling/copy/perf_records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_NEED_FIRST (16u << 10)
#define STACK_NEED_MOST  65528u /* the limit of a record's size */

struct stack_need {
	uint64_t judged;    /* stacks, since the copy has its size */
	uint64_t ran_off;   /* walks that read beyond the copy */
	uint64_t elsewhere; /* walks that read on another stack */
	uint64_t deepest;   /* bytes above the stack pointer, the most that one read */
	uint64_t within;    /* the same for those within the copy */
	bool is_trial;      /* the copy is larger than needed, until the need is known */
	bool is_cut;        /* one of them is incomplete as the copy was too short */
};

/* What one walk has read. */
struct stack_use {
	uint64_t deepest; /* 0: the copy sufficed */
	uint64_t within;  /* bytes read of the copy */
	bool elsewhere, is_cut;
};

/* The size of the first copies, in rings of this size. */
uint32_t stack_need_first(size_t ring_size);
void stack_need_note(struct stack_need *need, const struct stack_use *use);
/* The size that the copy should have, instead of `size`. */
uint32_t stack_need_size(const struct stack_need *need, uint32_t size);
/* Samples should be read at once: a larger copy would not help. */
bool stack_need_haste(const struct stack_need *need, uint32_t size);

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
