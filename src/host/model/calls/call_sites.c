/*
 * Adds calls up by the stack that they were made from.
 */
#include "host/model/calls/call_sites.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>

static int site_add(struct call_sites *self, const struct call *call)
{
	if (make_room(&self->rows, self->count, &self->room, sizeof(*self->rows)))
		return -ENOMEM;
	self->rows[self->count++] = (struct call_site){ .process = call->process,
							.function = call->function,
							.thread = call->thread,
							.begin_ns = call->begin_ns,
							.stack = call->stack,
							.stack_end = call->stack_end };
	return 0;
}

/* Functions are numbered through all processes, stacks and threads through the recording. */
int call_sites_take(struct call_sites *self, const struct call *call)
{
	uint32_t domains = self->domains ? self->domains : CALL_SITE_DOMAINS;
	uint64_t thread = self->is_by_thread ? call->thread->number + 1ull : 0;
	struct table_entry *entry;
	bool is_new;

	if (!(domains & 1u << call->function->domain))
		return 0;
	entry = table_make(&self->by_site, (uint64_t)call->function_number << 32 | call->stack,
			   thread << 8 | call->stack_end, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->count;
		if (site_add(self, call))
			return -ENOMEM;
	}
	statistics_add(&self->rows[entry->value].statistics, call->end_ns - call->begin_ns);
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
	if (self->count)
		qsort(self->rows, self->count, sizeof(*self->rows), by_time);
}

void call_sites_done(struct call_sites *self)
{
	free(self->rows);
	table_done(&self->by_site);
}
