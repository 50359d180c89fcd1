/*
 * Answers about spans: lanes of calls and devices, arrows between them, one call with its stack.
 */
#include "host/core/cleanup.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define ROWS_MAX 1000000u

static const char *const lane_type_names[] = {
	[LANE_CALLS] = "calls",
	[LANE_MARKERS] = "markers",
	[LANE_QUEUE] = "queue",
};

/* A row of the answer: one span, or some that are narrower than a pixel. */
struct drawn_span {
	const struct span *shown; /* the one that gives the name */
	uint64_t begin_ns, end_ns, correlation;
	size_t count;
};

struct drawing {
	struct answer *answer;
	const struct spans *spans;
	unsigned names; /* the column */
	uint64_t from_ns, to_ns, pixel_ns, rows, left_out;
	uint32_t *numbers; /* by name: its number in the answer and one */
	uint32_t named;
};

/* Only names that are drawn are sent. */
static uint32_t name_number(struct drawing *self, uint32_t name)
{
	if (!self->numbers[name]) {
		self->numbers[name] = ++self->named;
		column_text(&self->answer->columns, self->names,
			    pool_text(&self->spans->names, name));
	}
	return self->numbers[name] - 1;
}

static void row_write(struct drawing *self, const struct drawn_span *row)
{
	struct columns *columns = &self->answer->columns;

	if (self->rows++ >= ROWS_MAX) {
		self->left_out += row->count;
		return;
	}
	cell_u32(columns, row->shown->lane);
	cell_u8(columns, row->shown->level);
	cell_f64(columns, (double)row->begin_ns);
	cell_f64(columns, (double)row->end_ns);
	cell_u32(columns, name_number(self, row->shown->name));
	cell_f64(columns, (double)row->correlation);
	cell_u32(columns, (uint32_t)row->count);
	cell_u8(columns, row->shown->domain);
}

static const struct span *span_ordered(const struct drawing *self, size_t i)
{
	return &self->spans->items[self->spans->order[i]];
}

/* All of a group as one, by the name of the longest. */
static void group_write(struct drawing *self, const struct span_group *group)
{
	const struct span *first, *shown;

	if (group->first >= group->end)
		return;
	first = span_ordered(self, group->first);
	shown = span_longest(self->spans, group);
	row_write(self, &(struct drawn_span){ .shown = shown,
					      .begin_ns = first->begin_ns,
					      .end_ns = span_ordered(self, group->end - 1)->end_ns,
					      .correlation = group->end - group->first == 1
								     ? shown->correlation
								     : 0,
					      .count = group->end - group->first });
}

/* The first of a group that is as wide as a pixel; its end: none is.  Where nothing overlaps, it
 * can only be the last. */
static size_t wide_find(const struct drawing *self, const struct span_group *group)
{
	size_t at = group->end - 1;

	if (span_ordered(self, at)->level + 1u == SPAN_LEVELS_MAX)
		at = group->first;
	while (at < group->end && span_length(span_ordered(self, at)) < self->pixel_ns)
		at++;
	return at;
}

/* Where the pixel ends in which it begins, or the answer.  Times are the recording's, and may be
 * too large for any sum. */
static uint64_t pixel_end(const struct drawing *self, const struct span *span)
{
	uint64_t before_ns = span->begin_ns - MIN(span->begin_ns, self->from_ns), end_ns;

	if (__builtin_mul_overflow(before_ns / self->pixel_ns + 1, self->pixel_ns, &end_ns) ||
	    __builtin_add_overflow(end_ns, self->from_ns, &end_ns))
		return self->to_ns;
	return MIN(end_ns, self->to_ns);
}

/* Pixel by pixel: the cost is that of the picture.  Each has at least one span. */
static void lane_row_draw(struct drawing *self, const struct span_row *row)
{
	size_t end = row->first + row->count, at = span_row_find(self->spans, row, self->from_ns);

	while (at < end && span_ordered(self, at)->begin_ns < self->to_ns) {
		struct span_group group = { at, at };
		size_t wide;

		group.end = span_begin_find(self->spans, at, end,
					    pixel_end(self, span_ordered(self, at)));
		group.end = MAX(group.end, at + 1);
		wide = wide_find(self, &group);
		at = MIN(wide + 1, group.end);
		group_write(self, &(struct span_group){ group.first, wide });
		group_write(self, &(struct span_group){ wide, at });
	}
}

static void lanes_describe(const struct answer *self)
{
	const struct spans *spans = &self->session->calls.spans;
	struct json *json = self->json;

	json_list(json, "lanes");
	for (size_t i = 0; i < spans->lane_count; i++) {
		const struct span_lane *lane = &spans->lanes[i];

		json_object(json, NULL);
		json_number(json, "number", i);
		json_text(json, "title", lane->title);
		json_text(json, "type", lane_type_names[lane->type]);
		json_signed(json, "thread",
			    ui_session_thread(self->session, lane->thread, lane->tid));
		json_number(json, "depth", lane->depth);
		json_number(json, "spans", lane->spans);
		json_object_end(json);
	}
	json_list_end(json);
	json_list(json, "domains");
	for (unsigned i = 0; i < DOMAINS; i++)
		json_text(json, NULL, domain_name(i));
	json_list_end(json);
}

/* Those of the selected threads, and all that belong to no thread. */
static bool lane_is_wanted(const struct answer *self, const struct span_lane *lane)
{
	const struct ui_range *range = &self->command->range;
	int64_t thread = ui_session_thread(self->session, lane->thread, lane->tid);
	bool is_wanted = !range->thread_count || lane->thread < 0;

	for (uint32_t i = 0; !is_wanted && i < range->thread_count; i++)
		is_wanted = thread == (int64_t)range->threads[i];
	return is_wanted;
}

/* Reports what was left out. */
static void limits_write(struct json *json, const struct drawing *self)
{
	static const struct {
		uint32_t max;
		const char *of;
	} limits[] = { { SPANS_MAX, "spans" },
		       { LANES_MAX, "lanes" },
		       { ROWS_MAX, "rows to draw" } };
	uint64_t left_out = self->left_out + self->spans->left_out;
	unsigned limit = self->left_out ? 2 : !self->spans->has_all_lanes;
	char text[160] = "";

	if (left_out)
		snprintf(text, sizeof(text),
			 "%" PRIu64 " spans are not shown: there are more than %u %s", left_out,
			 limits[limit].max, limits[limit].of);
	json_number(json, "left_out", left_out);
	json_text(json, "limited", text);
}

static void empty_write(const struct answer *self)
{
	bool is_behind;

	json_text(self->json, "empty", ui_session_calls_empty(self->session, &is_behind));
	json_bool(self->json, "is_behind", is_behind);
}

int answer_spans(struct answer *answer)
{
	static const struct column_name names[] = {
		{ "lane", COLUMN_U32 },  { "level", COLUMN_U8 },  { "begin", COLUMN_F64 },
		{ "end", COLUMN_F64 },   { "name", COLUMN_U32 },  { "correlation", COLUMN_F64 },
		{ "count", COLUMN_U32 }, { "domain", COLUMN_U8 },
	};
	const struct ui_range *range = &answer->command->range;
	const struct spans *spans = &answer->session->calls.spans;
	struct drawing self = { .answer = answer, .spans = spans, .from_ns = range->from_ns };

	if (ui_session_spans(answer->session, answer->err))
		return answer->err->code;
	self.to_ns = range->to_ns ? range->to_ns : ui_session_end_ns(answer->session) + 1;
	self.pixel_ns = MAX(
		(self.to_ns - MIN(self.to_ns, self.from_ns)) / MAX(answer->command->width, 1u), 1u);
	self.numbers = calloc(spans->names.count + 1, sizeof(*self.numbers));
	if (!self.numbers)
		return -ENOMEM;
	columns_begin(&answer->columns, names, ARRAY_SIZE(names));
	self.names = columns_add(&answer->columns, "names", COLUMN_TEXTS);
	for (size_t i = 0; i < spans->lane_count; i++)
		if (lane_is_wanted(answer, &spans->lanes[i]))
			for (unsigned level = 0; level < spans->lanes[i].depth; level++)
				lane_row_draw(&self, &spans->rows[i * SPAN_LEVELS_MAX + level]);
	free(self.numbers);
	lanes_describe(answer);
	limits_write(answer->json, &self);
	empty_write(answer);
	return 0;
}

int answer_flows(struct answer *self)
{
	static const struct column_name names[] = {
		{ "from_lane", COLUMN_U32 },   { "from_level", COLUMN_U8 },
		{ "from_time", COLUMN_F64 },   { "to_lane", COLUMN_U32 },
		{ "to_level", COLUMN_U8 },     { "to_time", COLUMN_F64 },
		{ "correlation", COLUMN_F64 },
	};
	const struct ui_range *range = &self->command->range;
	const struct spans *spans = &self->session->calls.spans;
	struct columns *columns = &self->columns;
	size_t first, end, last;

	if (ui_session_spans(self->session, self->err))
		return self->err->code;
	first = span_works_before(spans, range->from_ns);
	end = range->to_ns ? span_works_before(spans, range->to_ns) : spans->work_count;
	end = MAX(end, first);
	last = first + MIN(end - first, self->command->limit);
	columns_begin(columns, names, ARRAY_SIZE(names));
	for (size_t i = first; i < last; i++) {
		const struct span *work = &spans->items[spans->works[i]];
		const struct span *cause = spans_cause(spans, work);

		cell_u32(columns, cause->lane);
		cell_u8(columns, cause->level);
		cell_f64(columns, (double)cause->begin_ns);
		cell_u32(columns, work->lane);
		cell_u8(columns, work->level);
		cell_f64(columns, (double)work->begin_ns);
		cell_f64(columns, (double)work->correlation);
	}
	json_number(self->json, "more", end - last);
	empty_write(self);
	return 0;
}

/* One call and the work that it caused, with all their recorded facts. */
struct span_search {
	struct answer *answer;
	struct model *model;
	uint64_t origin_ns;
	bool wants_work, is_found;
};

/* Outermost first. */
static void frames_write(const struct answer *self, const struct call *call)
{
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(call->model->samples, call->stack, frames);
	struct json *json = self->json;

	json_list(json, "frames");
	while (count-- > 0) {
		const struct sample_frame *frame = &call->model->samples->frames[frames[count]];

		for (uint32_t i = frame->location_count; i-- > 0;) {
			const struct sample_location *location =
				&call->model->samples->locations[frame->first_location + i];
			struct call_name name = { "", "" };

			(void)!call_names_find(&self->session->calls.names, call->model->samples,
					       frames[count], location, &name);
			json_object(json, NULL);
			json_text(json, "name", name.function ? name.function : "");
			json_text(json, "module", name.module);
			if (location->line) {
				json_text(json, "file", location->file);
				json_number(json, "line", location->line);
			}
			json_object_end(json);
		}
	}
	json_list_end(json);
}

static int call_visit(const struct call *call, void *context)
{
	struct span_search *self = context;
	struct json *json = self->answer->json;

	if (call_is_work(call) != self->wants_work ||
	    call_correlation(call) != self->answer->command->correlation)
		return 0;
	self->is_found = true;
	json_object(json, self->wants_work ? NULL : "call");
	json_text(json, "name", call_name(call));
	json_text(json, "domain", domain_name(call->function->domain));
	json_signed(
		json, "thread",
		ui_session_thread(self->answer->session, call->thread->number, call->thread->tid));
	json_number(json, "begin_ns", call->begin_ns - MIN(call->begin_ns, self->origin_ns));
	json_number(json, "end_ns", call->end_ns - MIN(call->end_ns, self->origin_ns));
	json_object(json, "values");
	for (unsigned i = 0; i < call->value_count; i++)
		json_number(json, value_name(call->function->values[i]), call->values[i]);
	json_object_end(json);
	frames_write(self->answer, call);
	json_text(json, "stack_end", call->has_stack ? stack_end_key(call->stack_end) : "");
	json_object_end(json);
	return !self->wants_work;
}

int answer_span(struct answer *answer)
{
	struct calls *calls = &answer->session->calls;
	struct span_search self = { .answer = answer };
	int r = ui_session_spans(answer->session, answer->err);

	if (!r && answer->command->correlation && (self.model = calls_hold(calls))) {
		self.origin_ns = calls_origin_ns(calls, self.model);
		r = model_each_call(self.model, call_visit, &self);
		self.wants_work = true;
		json_list(answer->json, "work");
		if (r >= 0)
			r = model_each_call(self.model, call_visit, &self);
		json_list_end(answer->json);
		calls_release(calls);
	}
	json_bool(answer->json, "found", self.is_found);
	return MIN(r, 0);
}
