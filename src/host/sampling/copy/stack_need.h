/*
 * How much of a stack the copies of "copy" must hold.  Where the rings have room, copies have the
 * maximum size at first, until enough stacks were walked to know the need.  Then stacks that did
 * not fit count: for the first that is cut off the copy grows at once, for others when there are
 * many of them.  What no copy can hold, since it lies on another stack or farther up, is read from
 * the process as soon as the sample arrives.
 */
#pragma once

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
