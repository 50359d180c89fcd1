/*
 * Ticks into nanoseconds: a line through two points where all clocks were read together.
 */
#include "host/model/read/read.h"
#include "host/model/samples/samples.h"

#define SHIFT   40
#define SECOND  1000000000u
#define SLOPE_1 (1ull << SHIFT)

/* Nanoseconds per tick, shifted; as measured, else as the machine states, else one. */
static uint64_t clock_slope(const struct model *model)
{
	uint64_t ticks = model->last.ticks - model->first.ticks;
	uint64_t time_ns = model->last.boot_ns - model->first.boot_ns;
	unsigned __int128 measured;

	if (model->last.ticks > model->first.ticks && model->last.boot_ns > model->first.boot_ns) {
		measured = ((unsigned __int128)time_ns << SHIFT) / ticks;
		return measured <= (SLOPE_1 << 20) ? (uint64_t)measured : SLOPE_1;
	}
	if (model->first.stated_hz)
		return (uint64_t)(((unsigned __int128)SECOND << SHIFT) / model->first.stated_hz);
	return SLOPE_1;
}

static uint64_t span_ns(const struct model *model, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * model->slope) >> SHIFT);
}

uint64_t model_time_ns(const struct model *model, uint64_t ticks)
{
	uint64_t origin = model->first.ticks;

	return ticks >= origin ? model->first.boot_ns + span_ns(model, ticks - origin)
			       : model->first.boot_ns - span_ns(model, origin - ticks);
}

int64_t model_wall_offset_ns(const struct model *model)
{
	return (int64_t)(model->first.real_ns - model->first.boot_ns);
}

static void clock_shift(struct clock_point *point, int64_t offset_ns)
{
	point->boot_ns += (uint64_t)offset_ns;
}

void model_use_wall_clock(struct model *model)
{
	int64_t offset_ns = model_wall_offset_ns(model);

	clock_shift(&model->first, offset_ns);
	clock_shift(&model->last, offset_ns);
	for (uint32_t i = 0; i < model->process_count; i++)
		if (model->processes[i]->start_ns)
			model->processes[i]->start_ns += (uint64_t)offset_ns;
	if (model->samples->count) {
		model->samples->first_ns += (uint64_t)offset_ns;
		model->samples->last_ns += (uint64_t)offset_ns;
	}
	if (model->windows.count) {
		model->windows.first_ns += (uint64_t)offset_ns;
		model->windows.last_ns += (uint64_t)offset_ns;
	}
}

void model_find_slope(struct model *model)
{
	model->slope = MAX(clock_slope(model), 1u);
}

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
