/*
 * Assigns ids.  Only calls that caused work of devices must be remembered, so those are collected
 * first.
 */
#include "host/export/amd/view/correlation.h"

#include <errno.h>

struct collecting {
	struct correlation *correlation;
	const struct model_process *process;
};

static int collect_cause(const struct call *call, void *context)
{
	const struct collecting *collecting = context;
	uint64_t id = call_is_work(call) ? call_correlation(call) : 0;
	bool is_new;

	if (!id || (collecting->process && call->process != collecting->process))
		return 0;
	return table_make(&collecting->correlation->causes, call->process->number, id, &is_new)
		       ? 0
		       : -ENOMEM;
}

static bool has_work(const struct model *model)
{
	return model_has_domain(model, DOMAIN_KERNEL) || model_has_domain(model, DOMAIN_COPY) ||
	       model_has_domain(model, DOMAIN_MEMORY) || model_has_domain(model, DOMAIN_SCRATCH) ||
	       model_has_domain(model, DOMAIN_COUNTER);
}

int correlation_begin(struct correlation *correlation, struct model *model,
		      const struct model_process *process)
{
	struct collecting collecting = { correlation, process };

	correlation->count = 0;
	if (correlation->is_collected)
		return 0;
	correlation->is_collected = true;
	return has_work(model) ? model_each_call(model, collect_cause, &collecting) : 0;
}

void correlation_done(struct correlation *correlation)
{
	table_done(&correlation->causes);
	*correlation = (struct correlation){ 0 };
}

uint64_t correlation_next(struct correlation *correlation, const struct call *call)
{
	uint64_t id = call_correlation(call);
	struct table_entry *cause =
		id ? table_find(&correlation->causes, call->process->number, id) : NULL;

	if (!call_is_work(call)) {
		correlation->count++;
		if (cause && !cause->value)
			cause->value = correlation->count;
		return correlation->count;
	}
	if (!cause)
		return 0;
	/* The call is not in the file: the first piece of its work has an id for all of them, also
	 * when this pass is not the first. */
	if (!cause->value)
		cause->value = correlation->count + 1;
	if (cause->value == correlation->count + 1)
		correlation->count++;
	return cause->value;
}
