/*
 * Adds calls up by function and by thread.
 */
#include "host/model/calls/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/model/calls/descriptors.h"

/* A function with its number. */
struct named {
	const struct trace_function *function;
	uint32_t number;
};

static int by_name(const void *left, const void *right)
{
	const struct trace_function *a = ((const struct named *)left)->function;
	const struct trace_function *b = ((const struct named *)right)->function;
	int order = a->domain - b->domain;

	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->library, b->library);
}

static void list_functions(const struct model *model, struct named *into)
{
	for (uint32_t i = 0; i < model->process_count; i++) {
		const struct model_process *process = model->processes[i];

		for (uint32_t function = 0; function < process->function_count; function++)
			*into++ = (struct named){ &process->functions[function],
						  process->first_function + function };
	}
}

/* Functions of the same name are adjacent: they share a row. */
static int make_rows(struct summary *summary, const struct model *model)
{
	size_t count = model->function_count;
	CLEANUP(free) struct named *named = calloc(MAX(count, 1u), sizeof(*named));

	if (!named)
		return -ENOMEM;
	list_functions(model, named);
	qsort(named, count, sizeof(*named), by_name);
	for (size_t i = 0; i < count; i++) {
		if (!i || by_name(&named[i - 1], &named[i]))
			summary->functions[summary->function_count++].function = named[i].function;
		summary->row_of[named[i].number] = summary->function_count - 1;
	}
	return 0;
}

int summary_init(struct summary *ret, const struct model *model)
{
	*ret = (struct summary){ .first_ns = UINT64_MAX, .thread_count = model->thread_count };
	ret->functions = calloc(MAX(model->function_count, 1u), sizeof(*ret->functions));
	ret->row_of = calloc(MAX(model->function_count, 1u), sizeof(*ret->row_of));
	ret->threads = calloc(MAX(model->thread_count, 1u), sizeof(*ret->threads));
	if (!ret->functions || !ret->row_of || !ret->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->thread_count; i++)
		ret->threads[i].thread = model->threads[i];
	return make_rows(ret, model);
}

/* Bytes allocated, read or written. */
static bool find_bytes(const struct call *call, uint64_t *ret)
{
	uint64_t address;

	if (call->function->domain == DOMAIN_IO)
		return descriptors_bytes(call, ret);
	if (call->function->domain != DOMAIN_ALLOC || !call_value(call, VALUE_ADDRESS, &address) ||
	    !call_value(call, VALUE_SIZE, ret))
		return false;
	if (!address || address > UINT64_MAX - 4096)
		*ret = 0;
	return true;
}

void summary_add(struct summary *summary, const struct call *call)
{
	struct function_row *row = &summary->functions[summary->row_of[call->function_number]];
	uint64_t duration_ns = call->end_ns - call->begin_ns, bytes = 0;

	summary->first_ns = MIN(summary->first_ns, call->begin_ns);
	summary->last_ns = MAX(summary->last_ns, call->end_ns);
	if (call->kind != CALL_PLAIN || call_is_work(call))
		return;
	statistics_add(&row->statistics, duration_ns);
	row->has_bytes |= find_bytes(call, &bytes);
	row->bytes += bytes;
	statistics_add(&summary->threads[call->thread->number].statistics, duration_ns);
	statistics_add(&summary->domains[call->function->domain], duration_ns);
}

static int by_time(const struct statistics *a, const struct statistics *b)
{
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->calls > b->calls ? -1 : a->calls < b->calls;
}

static int functions_by_time(const void *left, const void *right)
{
	const struct function_row *a = left, *b = right;
	int order = a->function->domain - b->function->domain;

	if (!order)
		order = by_time(&a->statistics, &b->statistics);
	return order ? order : strcmp(a->function->name, b->function->name);
}

static int threads_by_time(const void *left, const void *right)
{
	const struct thread_row *a = left, *b = right;
	int order = by_time(&a->statistics, &b->statistics);

	return order ? order : (a->thread->number > b->thread->number ? 1 : -1);
}

void summary_sort(struct summary *summary)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < summary->function_count; i++)
		if (summary->functions[i].statistics.calls)
			summary->functions[kept++] = summary->functions[i];
	summary->function_count = kept;
	qsort(summary->functions, kept, sizeof(*summary->functions), functions_by_time);
	kept = 0;
	for (uint32_t i = 0; i < summary->thread_count; i++)
		if (summary->threads[i].statistics.calls || !summary->threads[i].thread->samples)
			summary->threads[kept++] = summary->threads[i];
	summary->thread_count = kept;
	qsort(summary->threads, summary->thread_count, sizeof(*summary->threads), threads_by_time);
}

uint64_t summary_total_ns(const struct summary *summary)
{
	uint64_t total_ns = 0;

	for (unsigned domain = 0; domain < DOMAIN_NUMBERS; domain++)
		total_ns += summary->domains[domain].total_ns;
	return total_ns;
}

void summary_done(struct summary *summary)
{
	free(summary->functions);
	free(summary->row_of);
	free(summary->threads);
}
