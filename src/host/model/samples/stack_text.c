/*
 * Writes stacks for people, and for formats in which a stack is text.
 */
#include "host/model/samples/stack_text.h"

#include "host/core/text/path.h"
#include "host/core/text/print.h"

const struct sample_location *stack_next(const struct samples *samples, struct stack_cursor *cursor)
{
	const struct sample_frame *frame;

	if (cursor->stack == STACK_NONE)
		return NULL;
	cursor->frame = samples->stacks[cursor->stack].frame;
	frame = &samples->frames[cursor->frame];
	if (cursor->location < frame->location_count)
		return &samples->locations[frame->first_location + cursor->location++];
	cursor->stack = samples->stacks[cursor->stack].caller;
	cursor->location = 0;
	return stack_next(samples, cursor);
}

void location_print(const struct samples *samples, const struct sample_location *location,
		    char *ret, size_t room)
{
	const struct sample_function *function = &samples->functions[location->function];

	if (location->line)
		print_into(ret, room, "%s (%s:%u)", function->name, path_base_name(location->file),
			   location->line);
	else if (function->is_named)
		print_into(ret, room, "%s (%s)", function->name,
			   samples->codes[function->code].name);
	else
		print_into(ret, room, "%s", function->name);
}

const char *stack_mark(enum stack_end end, char ret[STACK_MARK_MAX])
{
	ret[0] = '\0';
	if (end != STACK_COMPLETE)
		print_into(ret, STACK_MARK_MAX, "[incomplete stack: %s]", stack_end_key(end));
	return ret;
}
