/*
 * How much of a stack the copies of "copy" must hold.  Where the rings have room, copies are as
 * large as can be at first, until enough stacks were seen to say what they need.  Then it is
 * learned from stacks that did not fit: for the first that is cut off the copy grows at once, for
 * others when there are many of them.  What no copy can hold, since it lies on another stack or
 * farther up, is read from the process as soon as the sample is heard of.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_NEED_FIRST (16u << 10)
#define STACK_NEED_MOST  65528u /* what the size of a record leaves room for */

struct stack_need {
	uint64_t judged;    /* stacks, since the copy has its size */
	uint64_t ran_off;   /* read on beyond the copy */
	uint64_t elsewhere; /* read on another stack */
	uint64_t deepest;   /* bytes from the stack pointer on, that one of them asked for */
	uint64_t within;    /* the same of those for which the copy was enough */
	bool is_trial;      /* the copy is larger than it need be, until that is known */
	bool is_cut;        /* one of them is incomplete since the copy was too short */
};

/* What one walk asked for. */
struct stack_use {
	uint64_t deepest; /* 0: the copy was enough */
	uint64_t within;  /* how much of the copy was read */
	bool elsewhere, is_cut;
};

/* The size of the first copies, in rings of this size. */
uint32_t stack_need_first(size_t ring_size);
void stack_need_note(struct stack_need *need, const struct stack_use *use);
/* The size that the copy should have, where it has `size` now. */
uint32_t stack_need_size(const struct stack_need *need, uint32_t size);
/* Samples should be heard of at once: a larger copy would not help. */
bool stack_need_haste(const struct stack_need *need, uint32_t size);
