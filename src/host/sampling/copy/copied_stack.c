/*
 * Reads copied stacks.  Host only.
 */
#include "host/sampling/copy/copied_stack.h"

#include <errno.h>
#include <string.h>

#define REACH ((uint64_t)8 << 20) /* farther away is another stack: a signal's, a coroutine's */
#define BELOW ((uint64_t)4096)    /* what calls overwrite, and this one may have made since */

int copied_stack_read(void *context, uint64_t address, void *into, size_t size)
{
	struct copied_stack *stack = context;
	uint64_t skip = address - stack->sample->registers.sp;

	if (skip < stack->sample->stack_size && size <= stack->sample->stack_size - skip) {
		memcpy(into, stack->sample->stack + skip, size);
		return 0;
	}
	if (skip && -skip <= BELOW)
		return -EFAULT;
	if (skip < REACH)
		stack->use.deepest = MAX(stack->use.deepest, skip + size);
	else
		stack->use.elsewhere = true;
	return live_memory_read(&stack->beyond, address, into, size);
}
