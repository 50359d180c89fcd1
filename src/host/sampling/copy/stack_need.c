/*
 * Determines the size that copies of stacks must have.
 */
#include "host/sampling/copy/stack_need.h"

#include "shared/base/macros.h"

#define JUDGED_FROM 10u   /* stacks, before their share counts */
#define WINDOW      1000u /* stacks: older ones count half, so that a late phase shows */
#define GRAIN       4096u
#define TRIAL       200u /* stacks, before copies become smaller */
#define RING_COPIES 64u  /* of the largest size, which a ring must have room for */

uint32_t stack_need_first(size_t ring_size)
{
	return ring_size / STACK_NEED_MOST >= RING_COPIES ? STACK_NEED_MOST : STACK_NEED_FIRST;
}

void stack_need_note(struct stack_need *need, const struct stack_use *use)
{
	if (need->judged >= WINDOW) {
		need->judged /= 2;
		need->ran_off /= 2;
		need->elsewhere /= 2;
	}
	need->judged++;
	need->ran_off += use->deepest != 0;
	need->elsewhere += use->elsewhere;
	need->deepest = MAX(need->deepest, use->deepest);
	need->within = MAX(need->within, use->within);
	need->is_cut |= use->is_cut && use->deepest;
}

/* More than one in a hundred. */
static bool is_often(const struct stack_need *need, uint64_t count)
{
	return need->judged >= JUDGED_FROM && count * 100 > need->judged;
}

uint32_t stack_need_size(const struct stack_need *need, uint32_t size)
{
	uint64_t wanted = need->deepest + need->deepest / 4;

	/* The full depth of a stack that was cut is not known. */
	if (need->is_cut)
		return STACK_NEED_MOST;
	if (need->is_trial) {
		/* Twice the observed need: later stacks will be deeper. */
		wanted = MAX(ALIGN_UP(need->within * 2, GRAIN), (uint64_t)STACK_NEED_FIRST);
		if (need->judged < TRIAL || is_often(need, need->ran_off))
			return size;
		return (uint32_t)MIN(wanted, (uint64_t)size);
	}
	if (!is_often(need, need->ran_off))
		return size;
	wanted = MAX(ALIGN_UP(wanted, GRAIN), (uint64_t)size * 2);
	return (uint32_t)MIN(wanted, (uint64_t)STACK_NEED_MOST);
}

/* A program with other stacks shows that early: late reading loses frames until then. */
bool stack_need_haste(const struct stack_need *need, uint32_t size)
{
	bool is_largest = size >= STACK_NEED_MOST;

	return need->elsewhere * 100 > need->judged ||
	       (is_largest && is_often(need, need->ran_off));
}
