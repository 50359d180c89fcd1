/*
 * Names for frames, in the caller's thread.
 */
#include "host/api/stacks.h"

#include "host/api/api.h"

#include <errno.h>

/* Without lines there is one name, that of the function which holds the code. */
static int name_frame(struct stack_names *names, const struct recorded_frame *recorded,
		      struct limpet_frame *ret, struct err *err)
{
	struct recorded_name found[FRAME_NAMES_MAX];
	uint32_t count = 0;
	bool is_named = false;
	int r;

	pthread_mutex_lock(&names->lock);
	r = code_list_name(names->codes, recorded, /* wants_lines */ false, found, &count,
			   &is_named);
	if (!r)
		ret->module = code_list_code(names->codes, recorded->code)->path;
	pthread_mutex_unlock(&names->lock);
	if (r || !count)
		return err_set(err, -ENOMEM, "names: no memory");
	ret->function = found[count - 1].function;
	ret->address = recorded->address;
	ret->is_named = is_named;
	return 0;
}

EXPORT int limpet_stack_frame(const struct limpet_stack *stack, size_t index,
			      struct limpet_frame *frame, struct limpet_error *error)
{
	struct limpet_frame ours = { 0 };
	struct err err = { 0 };

	if (!stack || index >= stack->count)
		err_set(&err, -ENOENT, "there is no frame %zu", index);
	else if (!name_frame(stack->names, &stack->frames[index], &ours, &err))
		api_copy_out(frame, &ours, sizeof(ours));
	return api_report(&err, error);
}
