/*
 * Adds calls up by the stack that they were made from.
 */
#include "host/model/calls/call_sites.h"

#include <errno.h>
#include <stdlib.h>

struct row_key call_site_key(const struct call *call, bool is_by_thread)
{
	uint64_t thread = is_by_thread ? call->thread->number + 1ull : 0;

	return (struct row_key){ (uint64_t)call->function_number << 32 | call->stack,
				 thread << 8 | call->stack_end };
}

int call_sites_add(struct call_sites *self, const struct call *call)
{
	uint32_t domains = self->domains ? self->domains : CALL_SITE_DOMAINS;
	struct call_site *site;

	if (!(domains & 1u << call->function->domain))
		return 0;
	site = row_find(&self->by_site, call_site_key(call, self->is_by_thread), &self->rows,
			&self->count, sizeof(*site));
	if (!site)
		return -ENOMEM;
	if (!site->function)
		*site = (struct call_site){ .process = call->process,
					    .function = call->function,
					    .thread = call->thread,
					    .begin_ns = call->begin_ns,
					    .stack = call->stack,
					    .stack_end = call->stack_end };
	statistics_add(&site->statistics, call->end_ns - call->begin_ns);
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct call_site *a = left, *b = right;

	if (a->function->domain != b->function->domain)
		return a->function->domain < b->function->domain ? -1 : 1;
	if (a->statistics.total_ns != b->statistics.total_ns)
		return a->statistics.total_ns > b->statistics.total_ns ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

void call_sites_sort(struct call_sites *self)
{
	rows_sort(self->rows, self->count, sizeof(*self->rows), by_time);
}

void call_sites_done(struct call_sites *self)
{
	free(self->rows);
	table_done(&self->by_site.numbers);
}
