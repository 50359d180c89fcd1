/*
 * Reads copied stacks.  Host only.
 */
#include "host/sampling/copied_stack.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define REACH ((uint64_t)8 << 20) /* farther away is another stack: a signal's, a coroutine's */
#define BELOW ((uint64_t)4096)    /* what calls overwrite, and this one may have made since */

static int read_process(struct copied_stack *stack, uint64_t address, void *into, size_t size)
{
	uint64_t piece = ALIGN_DOWN(address, COPIED_STACK_PIECE);
	struct iovec local = { stack->piece, COPIED_STACK_PIECE };
	struct iovec remote = { (void *)(uintptr_t)piece, COPIED_STACK_PIECE };

	if (piece != stack->piece_at) {
		ssize_t n = process_vm_readv(stack->pid, &local, 1, &remote, 1, 0);

		stack->piece_at = piece;
		stack->piece_size = n > 0 ? (uint64_t)n : 0;
	}
	if (address - piece + size > stack->piece_size)
		return -EFAULT;
	memcpy(into, stack->piece + (address - piece), size);
	stack->is_guessed = true;
	return 0;
}

int copied_stack_read(void *context, uint64_t address, void *into, size_t size)
{
	struct copied_stack *stack = context;
	uint64_t skip = address - stack->sample->registers.sp;

	if (skip < stack->sample->stack_size && size <= stack->sample->stack_size - skip) {
		memcpy(into, stack->sample->stack + skip, size);
		return 0;
	}
	if (-skip <= BELOW)
		return -EFAULT;
	stack->ran_off |= skip < REACH;
	return read_process(stack, address, into, size);
}
