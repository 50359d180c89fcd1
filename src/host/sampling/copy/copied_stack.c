/*
 * Determines the size that copies of stacks must have.  Reads copied stacks, and the present memory
 * of a process, a piece at a time: waits for what is swapped out, and thereby brings it back.
 */
#include "host/sampling/copy/copied_stack.h"

#include "host/process/memory.h"
#include "shared/base/macros.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define REACH       ((uint64_t)8 << 20) /* farther away is another stack: a signal's, a coroutine's */
#define BELOW       ((uint64_t)4096)    /* overwritten by calls, perhaps since the sample */
#define JUDGED_FROM 10u                 /* stacks, before their share counts */
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

void live_memory_touch(pid_t pid, uint64_t start, uint64_t end)
{
	char bytes[TOUCHED_MAX];
	struct iovec local = { bytes, 0 }, remote[TOUCHED_MAX];
	unsigned long count = 0;

	for (uint64_t at = start; at < end && count < TOUCHED_MAX; count++) {
		remote[count] = (struct iovec){ (void *)(uintptr_t)at, 1 };
		at = ALIGN_DOWN(at, LIVE_MEMORY_PIECE) + LIVE_MEMORY_PIECE;
	}
	local.iov_len = count;
	if (count)
		(void)!memory_copy(pid, &local, 1, remote, count);
}

int live_memory_read(void *context, uint64_t address, void *into, size_t size)
{
	struct live_memory *memory = context;
	uint64_t piece = ALIGN_DOWN(address, LIVE_MEMORY_PIECE);
	struct iovec local = { memory->piece, LIVE_MEMORY_PIECE };
	struct iovec remote = { (void *)(uintptr_t)piece, LIVE_MEMORY_PIECE };
	ssize_t n;

	if (piece != memory->piece_at) {
		n = memory_copy(memory->pid, &local, 1, &remote, 1);
		memory->piece_at = piece;
		memory->piece_size = n > 0 ? (uint64_t)n : 0;
	}
	if (address - piece + size > memory->piece_size)
		return -EFAULT;
	memcpy(into, memory->piece + (address - piece), size);
	memory->was_read = true;
	return 0;
}

void copied_stack_begin(struct copied_stack *stack)
{
	stack->use = (struct stack_use){ 0 };
	stack->beyond.was_read = false;
	stack->last_count = 0;
}

int copied_stack_read(void *context, uint64_t address, void *into, size_t size)
{
	struct copied_stack *stack = context;
	uint64_t skip = address - stack->sample->registers.sp;

	if (skip < stack->sample->stack_size && size <= stack->sample->stack_size - skip) {
		memcpy(into, stack->sample->stack + skip, size);
		if (!stack->beyond.was_read)
			stack->last[stack->last_count++ % COPIED_LAST] = address;
		stack->use.within = MAX(stack->use.within, skip + size);
		return 0;
	}
	if (stack->is_shut || (skip && -skip <= BELOW))
		return -EFAULT;
	if (skip < REACH)
		stack->use.deepest = MAX(stack->use.deepest, skip + size);
	else
		stack->use.elsewhere = true;
	return live_memory_read(&stack->beyond, address, into, size);
}

bool copied_stack_stands(const struct copied_stack *stack)
{
	unsigned count = MIN(stack->last_count, COPIED_LAST);
	uint64_t words[COPIED_LAST];
	struct iovec local = { words, count * sizeof(*words) }, remote[COPIED_LAST];

	for (unsigned i = 0; i < count; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)stack->last[i], sizeof(*words) };
	if (count &&
	    memory_copy(stack->beyond.pid, &local, 1, remote, count) != (ssize_t)local.iov_len)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (memcmp(&words[i],
			   stack->sample->stack + (stack->last[i] - stack->sample->registers.sp),
			   sizeof(*words)))
			return false;
	return true;
}
