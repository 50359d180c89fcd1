/*
 * Loads spans.
 */
#include "host/live/calls/spans.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/table.h"
#include "host/core/text/print.h"
#include "host/export/trace/work_tracks.h"
#include "host/model/samples/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CAUSE_SHIFT 42u
#define CAUSE_BITS  (1u << (64u - CAUSE_SHIFT))

struct loading {
	struct spans *spans;
	struct model *model;
	uint64_t origin_ns;
	struct work_tracks tracks;
	struct table lanes; /* (type, thread, process or track): number and one */
};

static uint64_t value_or_0(const struct call *call, enum value_kind kind)
{
	uint64_t value = 0;

	call_value(call, kind, &value);
	return value;
}

static const struct agent *agent_find(struct work_tracks *tracks, const struct call *call,
				      enum value_kind kind)
{
	return agents_find(tracks->agents, call->process, value_or_0(call, kind));
}

static int kernel_title(struct work_tracks *tracks, const struct call *call, char *ret, size_t room)
{
	uint64_t number = value_or_0(call, VALUE_QUEUE);
	const char *queue = names_find(&call->process->names, NAME_QUEUE, number);
	const struct agent *agent = agent_find(tracks, call, VALUE_DEVICE);

	if (!agent)
		return -ENOMEM;
	if (queue[0])
		print_into(ret, room, "%s %u %s", agent_type(agent), agent->type_index, queue);
	else
		snprintf(ret, room, "%s %u queue %" PRIu64, agent_type(agent), agent->type_index,
			 number);
	return 0;
}

/* A copy to the host is work of the source device. */
static int copy_title(struct work_tracks *tracks, const struct call *call, char *ret, size_t room)
{
	const struct agent *to = agent_find(tracks, call, VALUE_DEVICE), *of = to;
	bool is_to_host = to && to->is_cpu;

	if (is_to_host)
		of = agent_find(tracks, call, VALUE_FROM_DEVICE);
	if (!of)
		return -ENOMEM;
	snprintf(ret, room, "%s %u copies%s of thread %" PRIu64, agent_type(of), of->type_index,
		 is_to_host && !of->is_cpu ? " to the host" : "", value_or_0(call, VALUE_THREAD));
	return 0;
}

/* The title of the lane of a piece of work, whose track has that number, as people count them: "GPU
 * 0 stream 7 of context 1", "GPU 0 copies to the host of thread 4711".  0 or -ENOMEM. */
static int work_title(struct work_tracks *tracks, const struct call *call, uint32_t track,
		      char *ret, size_t room)
{
	if (call->function->domain == DOMAIN_KERNEL)
		return kernel_title(tracks, call, ret, room);
	if (call->function->domain == DOMAIN_COPY)
		return copy_title(tracks, call, ret, room);
	snprintf(ret, room, "%s", tracks->items[track].name);
	return 0;
}

static int lane_describe(struct loading *self, struct span_lane *lane, const struct call *call,
			 uint32_t track)
{
	lane->thread = -1;
	if (call_is_work(call)) {
		lane->type = LANE_QUEUE;
		return work_title(&self->tracks, call, track, lane->title, sizeof(lane->title));
	}
	lane->type = call->kind == CALL_PLAIN ? LANE_CALLS : LANE_MARKERS;
	if (call->is_process_wide) {
		snprintf(lane->title, sizeof(lane->title), "%s %d", call->process->name,
			 call->process->pid);
		return 0;
	}
	lane->thread = call->thread->number;
	lane->tid = call->thread->tid;
	thread_title(self->model, call->thread, lane->title, sizeof(lane->title));
	return 0;
}

/* The owner of its lane: the queue, the process or the thread. */
static uint64_t owner_of(const struct call *call, uint32_t track)
{
	if (call_is_work(call))
		return track;
	return call->is_process_wide ? UINT64_C(1) << 32 | call->process->number
				     : call->thread->number;
}

static int lane_add(struct loading *self, const struct call *call, uint32_t track,
		    struct table_entry *entry)
{
	struct spans *spans = self->spans;

	if (make_room(&spans->lanes, spans->lane_count, &spans->lane_room, sizeof(*spans->lanes)))
		return -ENOMEM;
	entry->value = spans->lane_count;
	spans->lanes[spans->lane_count] = (struct span_lane){ 0 };
	return lane_describe(self, &spans->lanes[spans->lane_count++], call, track);
}

/* 0, -ENOMEM, or -EFBIG for one too many. */
static int lane_find(struct loading *self, const struct call *call, uint32_t *ret)
{
	bool is_full = self->spans->lane_count >= LANES_MAX, is_new = false;
	uint64_t kind = call_is_work(call) ? 2 : call->kind != CALL_PLAIN;
	uint32_t track = 0;
	struct table_entry *entry;
	int r = call_is_work(call) ? work_tracks_find(&self->tracks, call, &track, &is_new) : 0;

	if (r)
		return r;
	is_new = false;
	entry = is_full ? table_find(&self->lanes, kind, owner_of(call, track))
			: table_make(&self->lanes, kind, owner_of(call, track), &is_new);
	if (!entry)
		return is_full ? -EFBIG : -ENOMEM;
	if (is_new)
		r = lane_add(self, call, track, entry);
	*ret = (uint32_t)entry->value;
	return r;
}

/* The first level that is free at its beginning. */
static uint8_t level_assign(struct span_lane *lane, const struct span *span)
{
	unsigned level = 0;

	while (level + 1 < SPAN_LEVELS_MAX && lane->ends_ns[level] > span->begin_ns)
		level++;
	lane->ends_ns[level] = MAX(span->end_ns, span->begin_ns + 1);
	lane->depth = MAX(lane->depth, level + 1);
	lane->spans++;
	return (uint8_t)level;
}

static uint64_t session_time(const struct loading *self, uint64_t time_ns)
{
	return time_ns - MIN(time_ns, self->origin_ns);
}

static int span_keep(struct spans *spans, struct span *span)
{
	if (make_room(&spans->items, spans->count, &spans->room, sizeof(*spans->items)))
		return -ENOMEM;
	span->level = level_assign(&spans->lanes[span->lane], span);
	spans->items[spans->count++] = *span;
	return 0;
}

static int span_add(const struct call *call, void *context)
{
	struct loading *self = context;
	struct spans *spans = self->spans;
	struct span span = { .begin_ns = session_time(self, call->begin_ns),
			     .end_ns = session_time(self, call->end_ns),
			     .correlation = call_correlation(call),
			     .domain = (uint8_t)call->function->domain,
			     .is_work = call_is_work(call) };
	int r = spans->count < SPANS_MAX ? lane_find(self, call, &span.lane) : -EFBIG;

	if (r == -EFBIG) {
		spans->left_out++;
		spans->has_all_lanes &= spans->count >= SPANS_MAX;
		return 0;
	}
	span.name = r ? POOL_NONE : pool_add(&spans->names, call_name(call));
	return span.name == POOL_NONE ? -ENOMEM : span_keep(spans, &span);
}

/* Which call caused a piece of work, by correlation. */
struct causes {
	struct table calls; /* (correlation, 0): number of the call and one */
	uint64_t seen[CAUSE_BITS / 64];
};

/* Most calls caused no work: a bit shows that without the table, which is too large for caches. */
static uint64_t cause_bit(uint64_t correlation)
{
	return correlation * UINT64_C(0x9e3779b97f4a7c15) >> CAUSE_SHIFT;
}

static int works_note(struct causes *self, const struct spans *spans)
{
	size_t works = 0;
	bool is_new;

	for (size_t i = 0; i < spans->count; i++)
		works += spans->items[i].is_work;
	if (!table_reserve(&self->calls, works))
		return -ENOMEM;
	for (size_t i = 0; i < spans->count; i++) {
		const struct span *span = &spans->items[i];
		uint64_t bit = cause_bit(span->correlation);

		if (!span->is_work || !span->correlation)
			continue;
		if (!table_make(&self->calls, span->correlation, 0, &is_new))
			return -ENOMEM;
		self->seen[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return 0;
}

static void calls_note(struct causes *self, const struct spans *spans)
{
	for (size_t i = 0; i < spans->count; i++) {
		const struct span *span = &spans->items[i];
		uint64_t bit = cause_bit(span->correlation);
		struct table_entry *entry;

		if (span->is_work || !(self->seen[bit / 64] >> bit % 64 & 1))
			continue;
		entry = table_find(&self->calls, span->correlation, 0);
		if (entry)
			entry->value = i + 1;
	}
}

static int causes_find(struct spans *spans)
{
	CLEANUP(free) struct causes *self = calloc(1, sizeof(*self));
	int r = self ? works_note(self, spans) : -ENOMEM;

	if (!r)
		calls_note(self, spans);
	for (size_t i = 0; !r && i < spans->count; i++)
		if (spans->items[i].is_work && spans->items[i].correlation)
			spans->items[i].cause =
				(uint32_t)table_find(&self->calls, spans->items[i].correlation, 0)
					->value;
	if (self)
		table_done(&self->calls);
	return r;
}

/* Growing by doubling would copy them all again and again.  Where there is no such room, they grow.
 */
static void spans_reserve(struct spans *self, const struct model *model)
{
	size_t room = MIN(model->calls, (uint64_t)SPANS_MAX);

	self->items = calloc(MAX(room, 1u), sizeof(*self->items));
	self->room = self->items ? MAX(room, 1u) : 0;
}

int spans_load(struct spans *ret, struct model *model, uint64_t origin_ns)
{
	struct loading self = { .spans = ret, .model = model, .origin_ns = origin_ns };
	int r;

	if (ret->is_loaded)
		return 0;
	ret->has_all_lanes = true;
	spans_reserve(ret, model);
	r = work_tracks_init(&self.tracks, model, AGENT_RELATIVE, /* is_by_stream */ false);
	self.tracks.max = LANES_MAX;
	self.tracks.is_by_source = true;
	if (!r)
		r = model_each_call(model, span_add, &self);
	if (!r)
		r = causes_find(ret);
	if (!r)
		r = span_index_make(ret);
	work_tracks_done(&self.tracks);
	table_done(&self.lanes);
	if (r)
		spans_done(ret);
	ret->is_loaded = !r;
	return r;
}

void spans_done(struct spans *spans)
{
	free(spans->items);
	free(spans->lanes);
	free(spans->rows);
	free(spans->order);
	free(spans->longest);
	free(spans->works);
	pool_done(&spans->names);
	*spans = (struct spans){ 0 };
}

const struct span *spans_cause(const struct spans *spans, const struct span *work)
{
	return work->cause ? &spans->items[work->cause - 1] : NULL;
}
