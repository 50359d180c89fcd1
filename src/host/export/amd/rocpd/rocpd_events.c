/*
 * Calls and the work of devices as rows of a rocpd database: an event each, and a region, a sample,
 * a kernel, a copy or a piece of memory that refers to it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/amd/rocpd/rocpd_parts.h"
#include "host/export/values.h"

static void fill_message(struct json *json, const void *context)
{
	const struct call *call = context;

	json_object(json, NULL);
	json_text(json, "message", call_name(call));
	if (call->cut)
		json_text(json, "unfinished", call_cut_text(call));
	json_object_end(json);
}

static void fill_stack(struct json *json, const void *context)
{
	const struct call *call = context;

	frames_write(json, NULL, call);
}

static int put_notes(struct rocpd *self, const struct amd_event *event,
		     const struct rocpd_cell *cells)
{
	const struct call *call = event->call;
	char *stack = call->has_stack ? rocpd_json(fill_stack, call) : strdup("{}");
	char *notes = call->kind == CALL_PLAIN ? strdup("{}") : rocpd_json(fill_message, call);
	int r;

	if (stack && notes)
		r = rocpd_put(self, INSERT_EVENT_WITH_NOTES,
			      (struct rocpd_cell[]){ cells[0], cells[1], cells[2], cells[3],
						     cells[4], TEXT(stack), TEXT(notes) });
	else
		r = rocpd_no_memory(self);
	free(stack);
	free(notes);
	return r;
}

static int put_event(struct rocpd *self, const struct amd_event *event)
{
	int64_t category, parent = call_is_work(event->call) ? (int64_t)event->correlation : 0;
	int r = rocpd_string(self, amd_kind_name(event->kind), &category);
	struct rocpd_cell cells[] = { NUMBER(++self->event_count), NUMBER(category),
				      NUMBER(event->correlation), NUMBER(parent), NUMBER(0) };

	if (r)
		return r;
	if (event->call->kind != CALL_PLAIN || event->call->has_stack)
		return put_notes(self, event, cells);
	return rocpd_put(self, INSERT_EVENT, cells);
}

static int put_arg(struct rocpd *self, unsigned position, const char *type, const char *name,
		   const char *value)
{
	return rocpd_put(self, INSERT_ARG,
			 (struct rocpd_cell[]){ NUMBER(self->event_count), NUMBER(position),
						TEXT(type), TEXT(name), TEXT(value) });
}

static int put_args(struct rocpd *self, const struct call *call)
{
	static const char *const types[] = {
		[VALUE_UNSIGNED] = "uint64_t", [VALUE_SIGNED] = "int64_t", [VALUE_POINTER] = "void*"
	};
	unsigned count = MIN(call->value_count, call->function->value_count);
	char text[VALUE_TEXT_MAX];
	int r = 0;

	for (unsigned i = 0; !r && i < count; i++) {
		unsigned kind = call->function->values[i];

		value_text(kind, call->values[i], text);
		if (value_name(kind))
			r = put_arg(self, i, types[value_form(kind)], value_name(kind), text);
	}
	/* A marker's text is in its event. */
	if (!r && call->text[0] && call->kind == CALL_PLAIN)
		r = put_arg(self, count, "char*", "text", call->text);
	return r;
}

/* A track is a thread's marks of one kind. */
static int find_track(struct rocpd *self, const struct amd_event *event, int64_t *ret)
{
	const struct model_process *process = event->call->process;
	int64_t tid = id_of(process, (uint64_t)event->tid), name;
	bool is_new;
	struct table_entry *entry =
		table_make(&self->known, KNOWN_TRACK + event->kind, (uint64_t)tid, &is_new);
	int r;

	if (!entry)
		return rocpd_no_memory(self);
	if (is_new)
		entry->value = (uint64_t)++self->track_count;
	*ret = (int64_t)entry->value;
	r = rocpd_string(self, amd_kind_name(event->kind), &name);
	if (r || !is_new)
		return r;
	return rocpd_put(self, INSERT_TRACK,
			 (struct rocpd_cell[]){ NUMBER(*ret), NUMBER(self->node),
						NUMBER(process_id(process)), NUMBER(tid),
						NUMBER(name) });
}

static int put_sample(struct rocpd *self, const struct amd_event *event)
{
	int64_t track = 0;
	int r = find_track(self, event, &track);

	return r ? r
		 : rocpd_put(self, INSERT_SAMPLE,
			     (struct rocpd_cell[]){ NUMBER(track), NUMBER(event->call->begin_ns),
						    NUMBER(self->event_count) });
}

static int put_region(struct rocpd *self, const struct amd_event *event)
{
	const struct call *call = event->call;
	int64_t name;
	int r = rocpd_string(self, event->operation, &name);

	if (!r)
		r = put_args(self, call);
	if (r)
		return r;
	if (call->kind == CALL_MARK)
		return put_sample(self, event);
	return rocpd_put(self, INSERT_REGION,
			 (struct rocpd_cell[]){ NUMBER(self->node),
						NUMBER(process_id(call->process)),
						NUMBER(id_of(call->process, (uint64_t)event->tid)),
						NUMBER(call->begin_ns), NUMBER(call->end_ns),
						NUMBER(name), NUMBER(self->event_count) });
}

/* The rows that all work of devices refers to. */
struct work_context {
	int64_t process, thread, queue, stream;
};

static int find_context(struct rocpd *self, const struct amd_event *event, struct work_context *ret)
{
	const struct model_process *process = event->call->process;
	uint64_t queue = event_value(event, VALUE_QUEUE), stream = event_value(event, VALUE_STREAM);
	int r = rocpd_queue(self, process, queue);

	if (!r)
		r = rocpd_stream(self, process, stream);
	*ret = (struct work_context){ process_id(process), id_of(process, (uint64_t)event->tid),
				      id_of(process, queue), id_of(process, stream) };
	return r;
}

static int put_kernel(struct rocpd *self, const struct amd_event *event)
{
	const struct model_process *process = event->call->process;
	uint64_t device = event_value(event, VALUE_DEVICE);
	struct work_context context;
	int64_t region;
	int r = find_context(self, event, &context);

	if (!r)
		r = rocpd_agent(self, process, device);
	if (!r)
		r = rocpd_symbol(self, event);
	if (!r)
		r = event->region[0] ? rocpd_passing_string(self, event->region, &region)
				     : rocpd_string(self, "", &region);
	if (r)
		return r;
	return rocpd_put(self, INSERT_KERNEL,
			 (struct rocpd_cell[]){ NUMBER(self->node),
						NUMBER(context.process),
						NUMBER(context.thread),
						NUMBER(id_of(process, device)),
						NUMBER(id_of(process, event->kernel)),
						NUMBER(event_value(event, VALUE_DISPATCH)),
						NUMBER(context.queue),
						NUMBER(context.stream),
						NUMBER(event->call->begin_ns),
						NUMBER(event->call->end_ns),
						NUMBER(event_value(event, VALUE_SCRATCH_BYTES)),
						NUMBER(event_value(event, VALUE_LOCAL_BYTES)),
						NUMBER(event_value(event, VALUE_GROUP_X)),
						NUMBER(event_value(event, VALUE_GROUP_Y)),
						NUMBER(event_value(event, VALUE_GROUP_Z)),
						NUMBER(event_value(event, VALUE_GRID_X)),
						NUMBER(event_value(event, VALUE_GRID_Y)),
						NUMBER(event_value(event, VALUE_GRID_Z)),
						NUMBER(region),
						NUMBER(self->event_count) });
}

static int put_copy(struct rocpd *self, const struct amd_event *event)
{
	const struct model_process *process = event->call->process;
	uint64_t to = event_value(event, VALUE_DEVICE),
		 from = event_value(event, VALUE_FROM_DEVICE);
	struct work_context context;
	int64_t name, region;
	int r = find_context(self, event, &context);

	if (!r)
		r = rocpd_agent(self, process, to);
	if (!r)
		r = rocpd_agent(self, process, from);
	if (!r)
		r = rocpd_string(self, event->name, &name);
	if (!r)
		r = rocpd_string(self, "", &region);
	if (r)
		return r;
	return rocpd_put(
		self, INSERT_COPY,
		(struct rocpd_cell[]){
			NUMBER(self->node), NUMBER(context.process), NUMBER(context.thread),
			NUMBER(event->call->begin_ns), NUMBER(event->call->end_ns), NUMBER(name),
			NUMBER(id_of(process, to)), NUMBER(event_value(event, VALUE_ADDRESS)),
			NUMBER(id_of(process, from)), NUMBER(event_value(event, VALUE_OLD_ADDRESS)),
			NUMBER(event_value(event, VALUE_SIZE)), NUMBER(context.queue),
			NUMBER(context.stream), NUMBER(region), NUMBER(self->event_count) });
}

static const struct memory_words {
	const char *type, *level;
} memory_words[MEMORY_OPERATIONS] = {
	[MEMORY_ALLOCATE] = { "ALLOC", "REAL" },
	[MEMORY_FREE] = { "FREE", "REAL" },
	[MEMORY_REALLOCATE] = { "REALLOC", "REAL" },
	[MEMORY_RECLAIM] = { "RECLAIM", "REAL" },
	[MEMORY_VIRTUAL_ALLOCATE] = { "ALLOC", "VIRTUAL" },
	[MEMORY_VIRTUAL_FREE] = { "FREE", "VIRTUAL" },
};

static int put_memory(struct rocpd *self, const struct amd_event *event)
{
	const struct model_process *process = event->call->process;
	uint64_t operation = event_value(event, VALUE_OPERATION);
	struct memory_words words =
		memory_words[operation < MEMORY_OPERATIONS ? operation : MEMORY_ALLOCATE];
	bool is_placed = amd_memory_has_agent(event), is_scratch = event->domain == AMD_SCRATCH;
	uint64_t device = event_value(event, VALUE_DEVICE);
	struct work_context context;
	char notes[48] = "{}";
	int r = find_context(self, event, &context);

	if (!r && is_placed)
		r = rocpd_agent(self, process, device);
	if (r)
		return r;
	if (is_scratch)
		snprintf(notes, sizeof(notes), "{\"flags\":\"%" PRIu64 "\"}",
			 event_value(event, VALUE_FLAGS));
	return rocpd_put(
		self, INSERT_MEMORY,
		(struct rocpd_cell[]){
			NUMBER(self->node), NUMBER(context.process), NUMBER(context.thread),
			is_placed ? NUMBER(id_of(process, device)) : NOTHING, TEXT(words.type),
			TEXT(is_scratch ? "SCRATCH" : words.level), NUMBER(event->call->begin_ns),
			NUMBER(event->call->end_ns), NUMBER(event_value(event, VALUE_ADDRESS)),
			NUMBER(event_value(event, VALUE_SIZE)), NUMBER(context.queue),
			NUMBER(context.stream), NUMBER(self->event_count), TEXT(notes) });
}

static int put_counted(struct rocpd *self, const struct amd_event *event)
{
	int r = put_kernel(self, event);

	return r ? r : rocpd_counters(self, event);
}

typedef int event_putter(struct rocpd *self, const struct amd_event *event);

static event_putter *const putters[AMD_DOMAINS] = {
	[AMD_KERNEL] = put_kernel, [AMD_COUNTER] = put_counted, [AMD_COPY] = put_copy,
	[AMD_MEMORY] = put_memory, [AMD_SCRATCH] = put_memory,
};

int rocpd_event(struct rocpd *self, const struct amd_event *event)
{
	event_putter *put = putters[event->domain] ? putters[event->domain] : put_region;
	int r;

	/* A kernel has one row: where it was counted, the one with its counters. */
	if (event->domain == AMD_KERNEL && counted_is_alone(&self->view->counted, event->call))
		return 0;
	r = rocpd_thread(self, event->call->process, event->tid, NULL);

	if (!r)
		r = put_event(self, event);
	return r ? r : put(self, event);
}
