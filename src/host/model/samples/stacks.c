/*
 * Stacks by their frames.  A stack is its innermost frame and the stack that called it.
 */
#include "host/core/room.h"
#include "host/core/table.h"
#include "host/model/samples/samples.h"

#include <errno.h>

int samples_stack(struct samples *samples, struct table *numbers, uint32_t frame, uint32_t *stack)
{
	uint32_t depth = *stack == STACK_NONE ? 1 : samples->stacks[*stack].depth + 1;
	struct table_entry *entry;
	bool is_new;

	if (make_room(&samples->stacks, samples->stack_count, &samples->stack_room,
		      sizeof(*samples->stacks)))
		return -ENOMEM;
	entry = table_make(numbers, *stack, frame, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = samples->stack_count;
		samples->stacks[samples->stack_count++] =
			(struct sample_stack){ *stack, frame, depth };
	}
	*stack = (uint32_t)entry->value;
	return 0;
}

size_t stack_frames(const struct samples *samples, uint32_t stack, uint32_t *ret)
{
	size_t length = 0;

	for (; stack != STACK_NONE; stack = samples->stacks[stack].caller)
		ret[length++] = samples->stacks[stack].frame;
	return length;
}
