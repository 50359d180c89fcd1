/*
 * Packets of one queue are executed in order; those of others do not wait for them.  So a kernel
 * was alone if no kernel of another queue of its device overlaps it, and the target has no other
 * work.
 */
#include "host/export/amd/view/counted.h"

#include "host/core/room.h"
#include "host/core/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As in target/amd/counters/counters.h. */
#define COUNTER_MIXED      1u
#define COUNTER_INCOMPLETE 4u
#define COUNTER_OTHER      8u /* no counted kernel, but something beside them */

struct counted_kernel {
	uint64_t device, queue, begin_ns, end_ns, flags;
	bool is_together;
};

static int kernel_add(const struct call *call, void *context)
{
	struct counted *self = context;
	struct table_entry *entry;
	bool is_new;

	if (call->function->domain != DOMAIN_COUNTER)
		return 0;
	if (make_room(&self->kernels, self->count, &self->room, sizeof(*self->kernels)))
		return -ENOMEM;
	entry = table_make(&self->dispatches, call->process->number,
			   call_number(call, VALUE_DISPATCH), &is_new);
	if (!entry)
		return -ENOMEM;
	entry->value = self->count;
	self->kernels[self->count++] = (struct counted_kernel){
		.device = (uint64_t)call->process->number << 32 | call_number(call, VALUE_DEVICE),
		.queue = call_number(call, VALUE_QUEUE),
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
		.flags = call_number(call, VALUE_FLAGS),
	};
	return 0;
}

/* Kernels are in the order of their beginnings.  A queue of no known number may be any. */
static void kernels_compare(struct counted *self)
{
	for (size_t i = 0; i < self->count; i++) {
		struct counted_kernel *kernel = &self->kernels[i];

		for (size_t j = i + 1;
		     j < self->count && self->kernels[j].begin_ns < kernel->end_ns; j++) {
			struct counted_kernel *later = &self->kernels[j];

			if (kernel->device == later->device &&
			    (kernel->queue != later->queue || !kernel->queue))
				kernel->is_together = later->is_together = true;
		}
	}
	for (size_t i = 0; i < self->count; i++) {
		const struct counted_kernel *kernel = &self->kernels[i];
		bool is_unfinished = kernel->flags & COUNTER_INCOMPLETE;
		bool is_together = kernel->is_together || kernel->flags & COUNTER_MIXED;

		if (kernel->flags & COUNTER_OTHER)
			continue;
		self->unfinished += is_unfinished;
		self->together += !is_unfinished && is_together;
		self->alone += !is_unfinished && !is_together;
	}
}

int counted_init(struct counted *ret, struct model *model)
{
	int r;

	*ret = (struct counted){ .process_count = model->process_count };
	if (!model_has_domain(model, DOMAIN_COUNTER))
		return 0;
	ret->formulas = calloc(MAX(model->process_count, 1u), sizeof(struct counter_formulas *));
	r = ret->formulas ? model_each_call(model, kernel_add, ret) : -ENOMEM;
	if (!r)
		kernels_compare(ret);
	return r;
}

void counted_done(struct counted *counted)
{
	for (uint32_t i = 0; counted->formulas && i < counted->process_count; i++) {
		if (counted->formulas[i])
			counter_formulas_done(counted->formulas[i]);
		free(counted->formulas[i]);
	}
	free(counted->formulas);
	free(counted->kernels);
	table_done(&counted->dispatches);
	*counted = (struct counted){ 0 };
}

uint64_t counted_kernels(const struct counted *counted)
{
	return counted->alone + counted->together + counted->unfinished;
}

bool counted_is_alone(const struct counted *counted, const struct call *call)
{
	const struct table_entry *entry = table_find(&counted->dispatches, call->process->number,
						     call_number(call, VALUE_DISPATCH));
	const struct counted_kernel *kernel = entry ? &counted->kernels[entry->value] : NULL;

	return kernel && !kernel->is_together &&
	       !(kernel->flags & (COUNTER_MIXED | COUNTER_INCOMPLETE));
}

/* NULL: no memory. */
static struct counter_formulas *formulas_of(struct counted *counted,
					    const struct model_process *process)
{
	struct counter_formulas **formulas = &counted->formulas[process->number];

	if (!*formulas) {
		*formulas = calloc(1, sizeof(**formulas));
		if (*formulas)
			counter_formulas_init(*formulas, process->counters, process->counter_count);
	}
	return *formulas;
}

int counted_each(struct counted *counted, const struct call *call, counted_visitor *visit,
		 void *context)
{
	struct counter_formulas *formulas = formulas_of(counted, call->process);
	const struct event_counts counts = { call->counts, call->count_count,
					     names_find(&call->process->names, NAME_DEVICE,
							call_number(call, VALUE_DEVICE)) };
	int r = formulas ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < formulas->count; i++) {
		struct counter_values values;

		r = counter_formula_values(formulas, i, &counts, &values);
		if (r == -ENOENT || r == -EINVAL) {
			r = 0;
			continue;
		}
		if (!r)
			r = visit(counter_formula_fact(formulas, i), &values, context);
		free(values.items);
	}
	return r;
}
