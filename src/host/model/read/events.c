/*
 * The events of a model for visitors: calls as recorded, but ranges and marks in place of the calls
 * that made them.
 */

#include "host/model/read/ranges.h"
#include "host/model/read/read.h"
#include "host/model/samples/samples.h"

struct events {
	struct model *model;
	struct ranges ranges;
	size_t opened, closed; /* so many so far */
	call_visitor *visit;
	void *context;
};

static bool has_markers(const struct model *model)
{
	for (uint32_t i = 0; i < model->process_count; i++)
		for (uint32_t j = 0; j < model->processes[i]->function_count; j++)
			if (marker_role_of(&model->processes[i]->functions[j]) != MARKER_NONE)
				return true;
	return false;
}

static int events_pair(const struct call *call, void *context)
{
	return ranges_take(context, call);
}

/* They all begin with the recording, before the first call. */
static int show_headless(struct events *self, const struct headless_range *range)
{
	const struct model_thread *thread = self->model->threads[range->thread];
	struct call call = {
		.model = self->model,
		.process = thread->process,
		.thread = thread,
		.function = &thread->process->functions[range->function],
		.function_number = thread->process->first_function + range->function,
		.begin_ns = self->ranges.first_ns,
		.end_ns = MAX(range->end_ns, self->ranges.first_ns),
		.value_count = range->has_value,
		.values = &range->value,
		.stack = STACK_NONE,
		.text = "",
		.kind = CALL_RANGE,
		.cut = RANGE_HEADLESS,
	};

	call.is_process_wide = marker_role_of(call.function) == MARKER_STOP;
	return self->visit(&call, self->context);
}

static int show_mark(struct events *self, const struct call *call)
{
	struct call mark = *call;

	mark.kind = CALL_MARK;
	mark.end_ns = mark.begin_ns;
	return self->visit(&mark, self->context);
}

static int show_range(struct events *self, const struct call *call, enum marker_role role)
{
	struct call range = *call;

	range.kind = CALL_RANGE;
	range.is_process_wide = role == MARKER_START || role == MARKER_STOP;
	if (role == MARKER_PUSH || role == MARKER_START)
		ranges_close(&self->ranges, self->opened++, &range);
	else
		range.cut = RANGE_HEADLESS; /* begun unseen, some time before */
	return self->visit(&range, self->context);
}

static int show_closing(struct events *self, const struct call *call, enum marker_role role)
{
	switch (self->ranges.closings[self->closed++]) {
	case CLOSING_PAIRED:
		return 0;
	case CLOSING_FAILED:
		return self->visit(call, self->context);
	default:
		return show_range(self, call, role);
	}
}

static int events_translate(const struct call *call, void *context)
{
	struct events *self = context;
	enum marker_role role = marker_role_of(call->function);

	if (role == MARKER_NONE)
		return self->visit(call, self->context);
	if (role == MARKER_MARK)
		return show_mark(self, call);
	if (role == MARKER_POP || role == MARKER_STOP)
		return show_closing(self, call, role);
	return show_range(self, call, role);
}

static int show_all(struct events *self)
{
	int r = merge_each_call(self->model, events_pair, &self->ranges);

	ranges_finish(&self->ranges, self->model);
	for (size_t i = 0; !r && i < self->ranges.headless_count; i++)
		r = show_headless(self, &self->ranges.headless[i]);
	return r ? r : merge_each_call(self->model, events_translate, self);
}

static int each_call(struct model *model, call_visitor *visit, void *context)
{
	struct events events = { .model = model, .visit = visit, .context = context };
	int r;

	if (!has_markers(model))
		return merge_each_call(model, visit, context);
	r = show_all(&events);
	ranges_done(&events.ranges);
	return r;
}

struct narrowing {
	const struct model *model;
	call_visitor *visit;
	void *context;
};

static int visit_within(const struct call *call, void *context)
{
	const struct narrowing *self = context;

	return call->begin_ns >= self->model->from_ns && call->begin_ns < self->model->to_ns
		       ? self->visit(call, self->context)
		       : 0;
}

int model_each_call(struct model *model, call_visitor *visit, void *context)
{
	struct narrowing narrowing = { model, visit, context };

	return model->to_ns ? each_call(model, visit_within, &narrowing)
			    : each_call(model, visit, context);
}
