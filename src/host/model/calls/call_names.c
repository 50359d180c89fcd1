/*
 * Resolves names of traced calls' stacks.
 */
#include "host/model/calls/call_names.h"

#include "host/model/samples/samples.h"
#include "host/symbols/symbolizer.h"

#include <errno.h>

/* The function that was not inlined; POOL_NONE without memory. */
static uint32_t function_find(struct call_names *self, const struct sample_frame *frame,
			      const char *otherwise)
{
	struct code_names names;

	if (symbolizer_find(self->symbolizer, frame->code, frame->address - frame->is_return,
			    /* wants_lines */ false, &names))
		return POOL_NONE;
	return pool_add(&self->functions, names.is_named && names.count
						  ? names.items[names.count - 1].function
						  : otherwise);
}

static bool codes_open(struct call_names *self, const struct samples *samples)
{
	if (!self->symbolizer)
		self->symbolizer = symbolizer_new();
	if (!self->symbolizer || samples_open_codes(samples, self->code_count, self->symbolizer))
		return false;
	self->code_count = samples->code_count;
	return true;
}

static const char *name_find(struct call_names *self, const struct samples *samples, uint32_t frame,
			     const char *otherwise)
{
	struct table_entry *entry;
	bool is_new;

	if (!codes_open(self, samples))
		return NULL;
	entry = table_make(&self->found, frame, 0, &is_new);
	if (entry && is_new)
		entry->value = function_find(self, &samples->frames[frame], otherwise);
	return entry && entry->value != POOL_NONE
		       ? pool_text(&self->functions, (uint32_t)entry->value)
		       : NULL;
}

bool call_names_find(struct call_names *self, const struct samples *samples, uint32_t frame,
		     const struct sample_location *location, struct call_name *ret)
{
	const struct sample_function *function = &samples->functions[location->function];

	ret->module = samples->codes[function->code].name;
	ret->function = function->is_named ? function->name
					   : name_find(self, samples, frame, function->name);
	return ret->function;
}

void call_names_done(struct call_names *names)
{
	symbolizer_free(names->symbolizer);
	table_done(&names->found);
	pool_done(&names->functions);
	*names = (struct call_names){ 0 };
}
