/*
 * Flame graphs that are added up from calls: memory, and time of devices.
 */
#include "host/core/cleanup.h"
#include "host/ui/answers/handlers.h"
#include "host/ui/store/name_tree.h"
#include "host/ui/store/spans.h"

#include <errno.h>
#include <stdlib.h>

/* A tree of what calls weigh. */
struct weighing {
	struct name_tree *tree;
	struct ui_session *session;
	const struct ui_command *command;
	bool *is_wanted;         /* by number of the thread in the model of calls; NULL: all are */
	uint64_t from_ns, to_ns; /* CLOCK_BOOTTIME */
	double samples;
};

static bool is_within(const struct weighing *self, uint64_t begin_ns)
{
	return begin_ns >= self->from_ns && begin_ns < self->to_ns;
}

static bool thread_is_wanted(const struct weighing *self, int64_t thread)
{
	return !self->is_wanted || (thread >= 0 && self->is_wanted[thread]);
}

static uint32_t frame_child(struct weighing *self, uint32_t at, const struct call *call, unsigned i)
{
	const struct call_name *name = ui_session_call_name(self->session, call, i);

	if (!name)
		return NAME_TREE_NONE;
	return name_tree_child(self->tree, at, name->is_named ? FLAME_FUNCTION : FLAME_UNNAMED,
			       name->function, name->module);
}

/* Memory: the stack that asked for it, then the function that gave it. */
static int alloc_add(const struct call *call, void *context)
{
	struct weighing *self = context;
	double blocks = 1, bytes;
	uint64_t size = 0, address = 0;
	uint32_t at = 0;

	if (call->function->domain != DOMAIN_ALLOC || !is_within(self, call->begin_ns) ||
	    !thread_is_wanted(self, call->is_process_wide ? -1 : (int64_t)call->thread->number) ||
	    !call_value(call, VALUE_ADDRESS, &address) || !call_value(call, VALUE_SIZE, &size))
		return 0;
	bytes = (double)size;
	if (call->alloc_sample && !call_estimate(call, &blocks, &bytes))
		return 0;
	for (unsigned i = call->frame_count; i-- > 0 && at != NAME_TREE_NONE;)
		at = frame_child(self, at, call, i);
	if (at != NAME_TREE_NONE)
		at = name_tree_child(self->tree, at, FLAME_FUNCTION, call->function->name,
				     call->function->library);
	if (at == NAME_TREE_NONE)
		return -ENOMEM;
	self->tree->nodes[at].self[0] += bytes;
	self->tree->nodes[at].count[0] += blocks;
	self->samples++;
	return 0;
}

/* Time of devices: the call that launched it, then what ran. */
static int gpu_add_all(struct weighing *self, const struct ui_session *session)
{
	const struct spans *spans = &session->calls.shown.spans;

	for (size_t i = 0; i < spans->count; i++) {
		const struct span *work = &spans->items[i], *cause = spans_cause(spans, work);
		uint64_t begin_ns = MAX(work->begin_ns, self->from_ns);
		uint64_t end_ns = MIN(work->end_ns, self->to_ns);
		uint32_t at = 0;

		if (!work->is_work || begin_ns >= end_ns ||
		    !thread_is_wanted(self, cause ? spans->lanes[cause->lane].thread : -1))
			continue;
		at = name_tree_child(self->tree, 0, FLAME_FUNCTION,
				     cause ? pool_text(&spans->names, cause->name)
					   : "[launch not seen]",
				     cause ? domain_name(cause->domain) : "");
		if (at != NAME_TREE_NONE)
			at = name_tree_child(self->tree, at, FLAME_FUNCTION,
					     pool_text(&spans->names, work->name),
					     domain_name(work->domain));
		if (at == NAME_TREE_NONE)
			return -ENOMEM;
		self->tree->nodes[at].self[0] += (double)(end_ns - begin_ns);
		self->tree->nodes[at].count[0]++;
		self->samples++;
	}
	return 0;
}

/* Which threads of the model were asked for, by their numbers in the session. */
static int threads_choose(struct weighing *self, const struct model *model)
{
	const struct ui_range *range = &self->command->range;

	if (!range->thread_count)
		return 0;
	self->is_wanted = calloc(model->thread_count + 1u, sizeof(*self->is_wanted));
	if (!self->is_wanted)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		int64_t number = ui_session_thread(self->session, i, model->threads[i]->tid);

		for (uint32_t j = 0; j < range->thread_count; j++)
			self->is_wanted[i] |= number == (int64_t)range->threads[j];
	}
	return 0;
}

static int weights_gather(struct weighing *self)
{
	const struct ui_session *session = self->session;
	struct model *model = ui_session_calls(session);
	uint64_t origin_ns;

	if (!model)
		return 0;
	if (threads_choose(self, model))
		return -ENOMEM;
	self->from_ns = self->command->range.from_ns;
	self->to_ns = self->command->range.to_ns ? self->command->range.to_ns : INT64_MAX;
	if (self->command->kind == UI_GPU)
		return gpu_add_all(self, session);
	origin_ns = session->origin_ns + (model->first.boot_ns - model->first.monotonic_ns);
	self->from_ns += origin_ns;
	self->to_ns += origin_ns;
	return model_each_call(model, alloc_add, self);
}

int spans_flame_write(struct ui_session *session, const struct ui_command *command,
		      struct reply *reply, struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	CLEANUP(name_tree_done) struct name_tree tree = { 0 };
	struct weighing self = { .tree = &tree, .session = session, .command = command };
	bool is_gpu = command->kind == UI_GPU;
	int r = ui_session_spans(session, err);

	if (r)
		return r;
	r = columns_init(&columns) || name_tree_init(&tree) || weights_gather(&self) ||
	    name_tree_write(&tree, &columns, 1, command->width);
	free(self.is_wanted);
	if (r)
		return err_set(err, -ENOMEM, "flame graph: no memory");
	json_text(&columns.facts, "unit", is_gpu ? "ns" : "bytes");
	json_text(&columns.facts, "kind", ui_kind_name(command->kind));
	json_rounded(&columns.facts, "total", tree.nodes[0].total[0], 0);
	json_rounded(&columns.facts, "samples", self.samples, 0);
	json_number(&columns.facts, "incomplete", 0);
	json_rounded(&columns.facts, "trimmed", tree.trimmed, 0);
	json_number(&columns.facts, "trimmed_nodes", tree.trimmed_nodes);
	json_text(&columns.facts, "empty",
		  self.samples > 0 ? ""
		  : is_gpu         ? "this session has no work of devices"
				   : "this session has no traced allocations");
	return reply_columns(reply, &columns, command->is_json, err);
}
