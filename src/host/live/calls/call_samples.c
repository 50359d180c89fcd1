/*
 * Makes samples of calls.
 */
#include "host/live/calls/calls.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The stack of work whose launch was not recorded, and its thread. */
#define NOT_SEEN "[launch not seen]"

/* A model with copies of the calls' threads, one that stands for none, and samples of its own: the
 * calls' model may be followed meanwhile. */
struct model_around {
	struct model model;
	struct model_thread *copies;
};

/* The cache for a name of spans, which mostly is one function, and launched by one other. */
struct known_name {
	uint32_t frame, domain; /* the frame's number and one, 0: none; that of this domain */
	uint32_t stack;         /* as work: number and one, 0: none; that of this launch */
	uint64_t launch;
};

/* The module of a function: its name, and the path that determines its language. */
struct module_of {
	enum code_kind kind;
	const char *path, *name;
};

struct making {
	enum call_weight weight;
	struct store *store;
	struct samples *samples;
	const struct calls_read *calls;
	uint64_t boot_ns;         /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC */
	struct table codes;       /* (text of the module, language): number */
	struct table frames;      /* (text of the function, code): number */
	struct table callers;     /* (stack of a call): number of a stack */
	struct table stacks;      /* (caller, frame): number */
	struct table works;       /* (name of a launch, name of its work): number of a stack */
	struct known_name *names; /* of the spans */
};

static int code_find(struct making *self, const struct module_of *module, uint32_t *ret)
{
	struct samples *samples = self->samples;
	uint32_t text = pool_add(&samples->texts, module->name);
	struct table_entry *entry;
	bool is_new;

	if (text == POOL_NONE || make_room(&samples->codes, samples->code_count,
					   &samples->code_room, sizeof(*samples->codes)))
		return -ENOMEM;
	entry = table_make(&self->codes, text, frame_language(module->kind, module->path), &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		struct sample_code code = { .kind = module->kind,
					    .process = PROCESS_NONE,
					    .path = pool_keep(&samples->texts, module->path) };

		entry->value = samples->code_count;
		code.name = pool_text(&samples->texts, text);
		if (!code.path)
			return -ENOMEM;
		samples->codes[samples->code_count++] = code;
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

/* The frame of a function; each has one. */
static int frame_find(struct making *self, const char *function, const struct module_of *module,
		      uint32_t *ret)
{
	const struct recorded_name name = { .function = function, .file = "" };
	struct samples *samples = self->samples;
	uint32_t code = 0, text = pool_add(&samples->texts, function);
	struct table_entry *entry;
	bool is_new;

	if (text == POOL_NONE || code_find(self, module, &code) ||
	    make_room(&samples->frames, samples->frame_count, &samples->frame_room,
		      sizeof(*samples->frames)))
		return -ENOMEM;
	entry = table_make(&self->frames, text, code, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = samples->frame_count;
		samples->frames[samples->frame_count] = (struct sample_frame){ .code = code };
		if (samples_set_names(samples, &samples->frames[samples->frame_count++], &name, 1))
			return -ENOMEM;
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

/* Extends a stack by this frame; beyond the maximum depth inner frames are dropped. */
static int stack_push(struct making *self, uint32_t frame, uint32_t *stack)
{
	if (*stack != STACK_NONE && self->samples->stacks[*stack].depth >= STACK_DEPTH_MAX)
		return 0;
	return samples_stack(self->samples, &self->stacks, frame, stack);
}

static int function_push(struct making *self, const char *function, const struct module_of *module,
			 uint32_t *stack)
{
	uint32_t frame;

	return frame_find(self, function, module, &frame) || stack_push(self, frame, stack)
		       ? -ENOMEM
		       : 0;
}

static int sample_add(struct making *self, const struct recorded_sample *sample)
{
	struct store *store = self->store;

	if (make_room(&store->items, store->count, &store->room, sizeof(*store->items)))
		return -ENOMEM;
	store->items[store->count++] = *sample;
	self->samples->count++;
	return 0;
}

static int span_push(struct making *self, const struct span *span, uint32_t *stack)
{
	const struct spans *spans = self->calls->spans;
	const struct module_of module = { .path = FRAME_TRACED_PATH,
					  .name = domain_name(span->domain) };
	struct known_name *known = &self->names[span->name];
	uint32_t frame;

	if (!known->frame || known->domain != span->domain) {
		if (frame_find(self, pool_text(&spans->names, span->name), &module, &frame))
			return -ENOMEM;
		known->frame = frame + 1;
		known->domain = span->domain;
	}
	return stack_push(self, known->frame - 1, stack);
}

/* Time of devices: the launching call, then the work. */
static int work_stack_make(struct making *self, const struct span *work, const struct span *cause,
			   uint32_t *ret)
{
	static const struct module_of none = { .path = FRAME_TRACED_PATH, .name = "" };
	int r;

	*ret = STACK_NONE;
	r = cause ? span_push(self, cause, ret) : function_push(self, NOT_SEEN, &none, ret);
	return r ? r : span_push(self, work, ret);
}

/* A name that several calls launch has a stack for each. */
static int work_stack_find(struct making *self, const struct span *work, const struct span *cause,
			   uint64_t launch, uint32_t *ret)
{
	struct table_entry *entry;
	bool is_new;

	entry = table_make(&self->works, launch, work->name, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		if (work_stack_make(self, work, cause, ret))
			return -ENOMEM;
		entry->value = *ret;
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

/* Mostly one call does, and no table is needed. */
static int work_stack(struct making *self, const struct span *work, const struct span *cause,
		      uint32_t *ret)
{
	struct known_name *known = &self->names[work->name];
	uint64_t launch = (uint64_t)work->domain << 56 |
			  (cause ? (uint64_t)cause->domain << 33 | ((uint64_t)cause->name + 1) : 0);

	if (known->stack && known->launch != launch)
		return work_stack_find(self, work, cause, launch, ret);
	if (!known->stack) {
		if (work_stack_make(self, work, cause, ret))
			return -ENOMEM;
		known->stack = *ret + 1;
		known->launch = launch;
	}
	*ret = known->stack - 1;
	return 0;
}

static uint32_t thread_of(const struct making *self, int64_t number)
{
	return number >= 0 ? (uint32_t)number : self->calls->model->thread_count;
}

static int works_add(struct making *self)
{
	const struct spans *spans = self->calls->spans;
	int r = 0;

	self->names = calloc(spans->names.count + 1, sizeof(*self->names));
	if (!self->names || !table_reserve(&self->frames, spans->names.count) ||
	    !table_reserve(&self->stacks, spans->names.count))
		return -ENOMEM;
	for (size_t i = 0; !r && i < spans->count; i++) {
		const struct span *work = &spans->items[i], *cause;
		struct recorded_sample sample = { .time_ns = self->calls->origin_ns + work->end_ns,
						  .weight_ns = work->end_ns - work->begin_ns,
						  .state = 'R' };

		if (!work->is_work || work->end_ns <= work->begin_ns)
			continue;
		cause = spans_cause(spans, work);
		sample.thread = thread_of(self, cause ? spans->lanes[cause->lane].thread : -1);
		r = work_stack(self, work, cause, &sample.stack);
		if (!r)
			r = sample_add(self, &sample);
	}
	return r;
}

/* Its functions, the inlined ones last. */
static int frame_push(struct making *self, const struct samples *samples, uint32_t frame,
		      uint32_t *stack)
{
	const struct sample_frame *of = &samples->frames[frame];
	const struct sample_code *code = &samples->codes[of->code];
	struct call_name name;
	int r = 0;

	for (uint32_t i = of->location_count; !r && i-- > 0;) {
		if (!call_names_find(self->calls->names, samples, frame,
				     &samples->locations[of->first_location + i], &name))
			return -ENOMEM;
		r = function_push(self, name.function,
				  &(struct module_of){ code->kind, code->path, name.module },
				  stack);
	}
	return r;
}

static int callers_push(struct making *self, const struct call *call, uint32_t *stack)
{
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(call->model->samples, call->stack, frames);
	bool is_new;
	struct table_entry *entry = table_make(&self->callers, call->stack, 0, &is_new);
	int r = 0;

	if (!entry)
		return -ENOMEM;
	while (!r && is_new && count-- > 0)
		r = frame_push(self, call->model->samples, frames[count], stack);
	if (is_new)
		entry->value = *stack;
	*stack = (uint32_t)entry->value;
	return r;
}

/* Requested bytes; of a sample of allocations, the estimate.  0: none. */
static uint64_t alloc_bytes(const struct call *call)
{
	uint64_t size = 0, address = 0;
	double blocks, bytes;

	if (call->function->domain != DOMAIN_ALLOC || !call_value(call, VALUE_ADDRESS, &address) ||
	    !call_value(call, VALUE_SIZE, &size))
		return 0;
	if (!call->model->alloc_sample)
		return size;
	return call_estimate(call, &blocks, &bytes) ? (uint64_t)(bytes + 0.5) : 0;
}

/* Bytes, or the time of a call of the kind; 0: another kind, or without weight. */
static uint64_t call_weight(const struct making *self, const struct call *call)
{
	static const unsigned domains[CALL_WEIGHTS] = {
		[CALLS_LOCK] = DOMAIN_LOCK, [CALLS_IO] = DOMAIN_IO
	};

	if (self->weight == CALLS_ALLOC)
		return alloc_bytes(call);
	return call->function->domain == domains[self->weight] ? call->end_ns - call->begin_ns : 0;
}

/* Adds a call: the stack of its caller, then the called function. */
static int call_add(const struct call *call, void *context)
{
	struct making *self = context;
	struct recorded_sample sample = { .time_ns = (self->weight == CALLS_ALLOC ? call->begin_ns
										  : call->end_ns) -
						     self->boot_ns,
					  .weight_ns = call_weight(self, call),
					  .stack = STACK_NONE,
					  .state = 'R' };
	int r;

	if (!sample.weight_ns)
		return 0;
	sample.thread = thread_of(self, call->is_process_wide ? -1 : (int64_t)call->thread->number);
	sample.end = call->has_stack ? (uint8_t)call->stack_end : STACK_COMPLETE;
	r = callers_push(self, call, &sample.stack);
	if (!r)
		r = function_push(self, call->function->name,
				  &(struct module_of){ CODE_FILE, call->function->library,
						       call->function->library },
				  &sample.stack);
	return r ? r : sample_add(self, &sample);
}

static void model_around_free(struct model *model)
{
	struct model_around *self = (struct model_around *)model; /* its first member */

	if (!self)
		return;
	for (uint32_t i = 0; self->copies && i < model->thread_count; i++)
		free(self->copies[i].name);
	free(self->copies);
	free(model->threads);
	free(model->processes);
	samples_free(model->samples);
	free(self);
}

static int threads_copy(struct model_around *self, const struct model *calls)
{
	struct model *model = &self->model;

	self->copies = calloc(calls->thread_count + 1u, sizeof(*self->copies));
	model->threads = calloc(calls->thread_count + 1u, sizeof(struct model_thread *));
	model->processes = calloc(calls->process_count + 1u, sizeof(struct model_process *));
	if (!self->copies || !model->threads || !model->processes)
		return -ENOMEM;
	for (; model->process_count < calls->process_count; model->process_count++)
		model->processes[model->process_count] = calls->processes[model->process_count];
	for (; model->thread_count <= calls->thread_count; model->thread_count++) {
		bool is_seen = model->thread_count < calls->thread_count;
		struct model_thread *copy = &self->copies[model->thread_count];

		if (is_seen)
			*copy = *calls->threads[model->thread_count];
		else
			*copy = (struct model_thread){ .number = calls->thread_count,
						       .process = model->processes[0] };
		model->threads[model->thread_count] = copy;
		copy->name = strdup(is_seen ? copy->name : NOT_SEEN);
		if (!copy->name)
			return -ENOMEM;
	}
	return 0;
}

static struct model *model_around(const struct model *calls)
{
	struct model_around *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->model.samples = samples_new();
	if (self->model.samples && !threads_copy(self, calls))
		return &self->model;
	model_around_free(&self->model);
	return NULL;
}

static void making_done(struct making *self)
{
	table_done(&self->codes);
	table_done(&self->frames);
	table_done(&self->callers);
	table_done(&self->stacks);
	table_done(&self->works);
	free(self->names);
}

static int samples_fill(struct store *ret, const struct calls_read *calls, enum call_weight weight)
{
	struct model *model = model_around(calls->model);
	struct making self = { .weight = weight, .store = ret, .calls = calls };
	int r;

	if (!model)
		return -ENOMEM;
	ret->model = model;
	self.samples = model->samples;
	self.boot_ns = calls->model->first.boot_ns - calls->model->first.monotonic_ns;
	ret->is_points = weight == CALLS_ALLOC;
	r = weight == CALLS_DEVICE ? works_add(&self)
				   : model_each_call(calls->model, call_add, &self);
	making_done(&self);
	return r ? r : store_prepare(ret);
}

int call_samples_make(struct store *ret, const struct calls_read *calls, enum call_weight weight)
{
	int r = samples_fill(ret, calls, weight);

	if (r)
		call_samples_done(ret);
	return r;
}

void call_samples_done(struct store *samples)
{
	struct model *model = samples->model;

	store_wait(samples);
	samples->model = NULL;
	store_close(samples);
	model_around_free(model);
}
