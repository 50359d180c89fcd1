/*
 * Finds the span of a recording.
 */
#include "host/model/span.h"

#include "host/model/samples/samples.h"

static void span_widen(struct model_span *span, uint64_t begin_ns, uint64_t end_ns)
{
	span->begin_ns = MIN(span->begin_ns, begin_ns);
	span->end_ns = MAX(span->end_ns, end_ns);
}

/* The end of the last call is not known without reading all: the last reading of the clock is
 * later, for a recording that was ended. */
static void calls_add(const struct model *model, struct model_span *span)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < model->thread_count; i++)
		if (model->threads[i]->calls && model->threads[i]->location_count)
			least = MIN(least, model->threads[i]->locations[0].least_begin);
	if (least != UINT64_MAX)
		span_widen(span, model_time_ns(model, least), model->last.boot_ns);
}

struct model_span model_span(const struct model *model)
{
	struct model_span span = { UINT64_MAX, 0 };

	if (model->samples->count)
		span_widen(&span, model->samples->first_ns, model->samples->last_ns);
	calls_add(model, &span);
	if (model->windows.count)
		span_widen(&span, model->windows.first_ns, model->windows.last_ns);
	if (span.begin_ns == UINT64_MAX)
		span = (struct model_span){ model->first.boot_ns, model->last.boot_ns };
	return span;
}
