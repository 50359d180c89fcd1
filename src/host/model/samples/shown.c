/*
 * Removes frames of other languages from stacks.
 */
#include "host/model/samples/languages.h"

#include <errno.h>
#include <stdlib.h>

/* A stack is its innermost frame and the stack that called it, which has a smaller number: the rest
 * of a stack is known when its caller's is. */
static void show_stack(struct samples *samples, uint32_t number, unsigned language)
{
	struct sample_stack *stack = &samples->stacks[number];
	uint32_t caller = stack->caller == STACK_NONE ? STACK_NONE : samples->shown[stack->caller];
	const struct sample_code *code = &samples->codes[samples->frames[stack->frame].code];

	stack->caller = caller;
	stack->depth = caller == STACK_NONE ? 1 : samples->stacks[caller].depth + 1;
	samples->shown[number] = language_of_path(code->path) == language ? number : caller;
}

static int shown_count(const struct sample_event *event, void *context)
{
	(void)event;
	++*(int64_t *)context;
	return 0;
}

int64_t model_show_only(struct model *model, unsigned language)
{
	struct samples *samples = model->samples;
	int64_t visited = 0;
	int r;

	if (language != LANGUAGE_ALL) {
		samples->shown = calloc(samples->stack_count + 1, sizeof(*samples->shown));
		if (!samples->shown)
			return -ENOMEM;
		samples->is_bare_shown = language == LANGUAGE_NATIVE;
		for (size_t i = 0; i < samples->stack_count; i++)
			show_stack(samples, (uint32_t)i, language);
	}
	r = model_each_sample(model, shown_count, &visited);
	return r < 0 ? r : visited;
}

void model_show_paths(struct model *model)
{
	struct samples *samples = model->samples;

	for (size_t i = 0; i < samples->code_count; i++)
		samples->codes[i].name = language_path(samples->codes[i].path);
}
