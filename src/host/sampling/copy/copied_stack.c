/*
 * Reads copied stacks, and the present memory of a process, a piece at a time: waits for what is
 * swapped out, and thereby brings it back.
 */
#include "host/sampling/copy/copied_stack.h"

#include "host/process/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define REACH ((uint64_t)8 << 20) /* farther away is another stack: a signal's, a coroutine's */
#define BELOW ((uint64_t)4096)    /* overwritten by calls, perhaps since the sample */

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
