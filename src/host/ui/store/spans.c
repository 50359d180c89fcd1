/*
 * Loads spans.
 */
#include "host/ui/store/spans.h"

#include "host/core/room.h"
#include "host/export/trace/work_tracks.h"
#include "host/model/samples/profile.h"
#include "host/ui/store/span_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct loading {
	struct spans *spans;
	struct model *model;
	uint64_t origin_ns;
	struct work_tracks tracks;
	struct table lanes; /* (type, thread, process or track): number and one */
};

static void lane_describe(struct loading *self, struct span_lane *lane, const struct call *call,
			  uint32_t track)
{
	lane->thread = -1;
	if (call_is_work(call)) {
		lane->type = LANE_QUEUE;
		snprintf(lane->title, sizeof(lane->title), "%s", self->tracks.items[track].name);
		return;
	}
	lane->type = call->kind == CALL_PLAIN ? LANE_CALLS : LANE_MARKERS;
	if (call->is_process_wide) {
		snprintf(lane->title, sizeof(lane->title), "%s %d", call->process->name,
			 call->process->pid);
		return;
	}
	lane->thread = call->thread->number;
	lane->tid = call->thread->tid;
	thread_title(self->model, call->thread, lane->title, sizeof(lane->title));
}

/* Whose lane it is: of the queue, the process or the thread. */
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
	lane_describe(self, &spans->lanes[spans->lane_count++], call, track);
	return 0;
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

/* The first level on which nothing lies any more. */
static uint8_t level_take(struct span_lane *lane, const struct span *span)
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
	span->level = level_take(&spans->lanes[span->lane], span);
	spans->items[spans->count++] = *span;
	return 0;
}

static int span_add(const struct call *call, void *context)
{
	struct loading *self = context;
	struct spans *spans = self->spans;
	struct span span = { .begin_ns = session_time(self, call->begin_ns),
			     .end_ns = session_time(self, call->end_ns),
			     .correlation = call_correlation(self->model, call),
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

/* Of all calls only those that caused something are looked for. */
static int causes_find(struct spans *self)
{
	struct table_entry *entry;
	bool is_new;

	for (size_t i = 0; i < self->count; i++)
		if (self->items[i].is_work && self->items[i].correlation &&
		    !table_make(&self->causes, self->items[i].correlation, 0, &is_new))
			return -ENOMEM;
	for (size_t i = 0; i < self->count; i++) {
		if (self->items[i].is_work)
			continue;
		entry = table_find(&self->causes, self->items[i].correlation, 0);
		if (entry)
			entry->value = i + 1;
	}
	return 0;
}

int spans_load(struct spans *ret, struct model *model, uint64_t origin_ns)
{
	struct loading self = { .spans = ret, .model = model, .origin_ns = origin_ns };
	int r;

	if (ret->is_loaded)
		return 0;
	ret->has_all_lanes = true;
	r = work_tracks_init(&self.tracks, model, AGENT_RELATIVE, /* is_by_stream */ false);
	self.tracks.max = LANES_MAX;
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
	table_done(&spans->causes);
	*spans = (struct spans){ 0 };
}

const struct span *spans_cause(const struct spans *spans, const struct span *work)
{
	const struct table_entry *entry =
		work->correlation ? table_find(&spans->causes, work->correlation, 0) : NULL;

	return entry && entry->value ? &spans->items[entry->value - 1] : NULL;
}
