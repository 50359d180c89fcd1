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

static struct ui_session *spans_session(struct ui *ui, const struct ui_command *command,
					struct err *err)
{
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);

	return session && !ui_session_spans(session, err) ? session : NULL;
}

/* A row of the answer: one span, or some that are narrower than a pixel. */
struct drawn_span {
	const struct span *shown; /* the one that gives the name */
	uint64_t begin_ns, end_ns, correlation;
	size_t count;
};

struct drawing {
	struct columns *columns;
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
		column_text(self->columns, self->names, pool_text(&self->spans->names, name));
	}
	return self->numbers[name] - 1;
}

static void row_write(struct drawing *self, const struct drawn_span *row)
{
	struct columns *columns = self->columns;

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

static const struct column_name span_columns[] = {
	{ "lane", COLUMN_U32 },  { "level", COLUMN_U8 },  { "begin", COLUMN_F64 },
	{ "end", COLUMN_F64 },   { "name", COLUMN_U32 },  { "correlation", COLUMN_F64 },
	{ "count", COLUMN_U32 }, { "domain", COLUMN_U8 },
};

static void lanes_describe(struct json *json, const struct ui_session *session)
{
	const struct spans *spans = &session->calls.spans;

	json_list(json, "lanes");
	for (size_t i = 0; i < spans->lane_count; i++) {
		const struct span_lane *lane = &spans->lanes[i];

		json_object(json, NULL);
		json_number(json, "number", i);
		json_text(json, "title", lane->title);
		json_text(json, "type", lane_type_names[lane->type]);
		json_signed(json, "thread", ui_session_thread(session, lane->thread, lane->tid));
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

/* Lanes of the selected threads, and all that belong to no thread. */
static bool *lanes_choose(const struct ui_session *session, const struct ui_range *range)
{
	const struct spans *spans = &session->calls.spans;
	bool *wanted = calloc(spans->lane_count + 1, sizeof(*wanted));

	for (size_t i = 0; wanted && i < spans->lane_count; i++) {
		const struct span_lane *lane = &spans->lanes[i];
		int64_t thread = ui_session_thread(session, lane->thread, lane->tid);

		wanted[i] = !range->thread_count || lane->thread < 0;
		for (uint32_t j = 0; j < range->thread_count; j++)
			wanted[i] |= thread == (int64_t)range->threads[j];
	}
	return wanted;
}

static int spans_draw(struct drawing *self, const struct ui_session *session,
		      const struct ui_command *command)
{
	CLEANUP(free) bool *wanted = lanes_choose(session, &command->range);
	CLEANUP(free)
	uint32_t *numbers = calloc(self->spans->names.count + 1, sizeof(*self->numbers));

	if (!wanted || !numbers)
		return -ENOMEM;
	self->numbers = numbers;
	columns_begin(self->columns, span_columns, ARRAY_SIZE(span_columns));
	self->names = columns_add(self->columns, "names", COLUMN_TEXTS);
	for (size_t lane = 0; lane < self->spans->lane_count; lane++)
		for (unsigned level = 0; wanted[lane] && level < self->spans->lanes[lane].depth;
		     level++)
			lane_row_draw(self, &self->spans->rows[lane * SPAN_LEVELS_MAX + level]);
	return 0;
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

static void empty_write(struct json *json, struct ui_session *session)
{
	bool is_behind;

	json_text(json, "empty", ui_session_calls_empty(session, &is_behind));
	json_bool(json, "is_behind", is_behind);
}

int answer_spans(struct ui *ui, const struct ui_command *command, struct reply *reply,
		 struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	struct ui_session *session = spans_session(ui, command, err);
	struct drawing self = { .columns = &columns };
	int r;

	if (!session)
		return err->code;
	self.spans = &session->calls.spans;
	self.from_ns = command->range.from_ns;
	self.to_ns = command->range.to_ns ? command->range.to_ns : ui_session_end_ns(session) + 1;
	self.pixel_ns =
		MAX((self.to_ns - MIN(self.to_ns, self.from_ns)) / MAX(command->width, 1u), 1u);
	r = columns_init(&columns);
	if (!r)
		r = spans_draw(&self, session, command);
	if (r)
		return err_set(err, r, "calls: no memory");
	lanes_describe(&columns.facts, session);
	limits_write(&columns.facts, &self);
	empty_write(&columns.facts, session);
	return reply_columns(reply, &columns, command->is_json, err);
}

static const struct column_name flow_columns[] = {
	{ "from_lane", COLUMN_U32 },   { "from_level", COLUMN_U8 }, { "from_time", COLUMN_F64 },
	{ "to_lane", COLUMN_U32 },     { "to_level", COLUMN_U8 },   { "to_time", COLUMN_F64 },
	{ "correlation", COLUMN_F64 },
};

static void flow_write(struct columns *columns, const struct span *cause, const struct span *work)
{
	cell_u32(columns, cause->lane);
	cell_u8(columns, cause->level);
	cell_f64(columns, (double)cause->begin_ns);
	cell_u32(columns, work->lane);
	cell_u8(columns, work->level);
	cell_f64(columns, (double)work->begin_ns);
	cell_f64(columns, (double)work->correlation);
}

int answer_flows(struct ui *ui, const struct ui_command *command, struct reply *reply,
		 struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	struct ui_session *session = spans_session(ui, command, err);
	const struct spans *spans;
	size_t first, end, last;

	if (!session)
		return err->code;
	if (columns_init(&columns))
		return err_set(err, -ENOMEM, "arrows: no memory");
	spans = &session->calls.spans;
	first = span_works_before(spans, command->range.from_ns);
	end = command->range.to_ns ? span_works_before(spans, command->range.to_ns)
				   : spans->work_count;
	end = MAX(end, first);
	last = first + MIN(end - first, command->limit);
	columns_begin(&columns, flow_columns, ARRAY_SIZE(flow_columns));
	for (size_t i = first; i < last; i++) {
		const struct span *work = &spans->items[spans->works[i]];

		flow_write(&columns, spans_cause(spans, work), work);
	}
	json_number(&columns.facts, "more", end - last);
	empty_write(&columns.facts, session);
	return reply_columns(reply, &columns, command->is_json, err);
}

/* One call and the work that it caused, with all their recorded facts. */
struct span_search {
	struct json json;
	struct ui_session *session;
	struct model *model;
	uint64_t correlation, origin_ns;
	bool wants_work, is_found;
};

static void frame_write(struct span_search *self, const struct call *call, uint32_t frame)
{
	const struct sample_frame *of = &call->samples->frames[frame];

	for (uint32_t i = of->location_count; i-- > 0;) {
		const struct sample_location *location =
			&call->samples->locations[of->first_location + i];
		struct call_name name = { "", "" };

		(void)!call_names_find(&self->session->calls.names, call->samples, frame, location,
				       &name);
		json_object(&self->json, NULL);
		json_text(&self->json, "name", name.function ? name.function : "");
		json_text(&self->json, "module", name.module);
		if (location->line) {
			json_text(&self->json, "file", location->file);
			json_number(&self->json, "line", location->line);
		}
		json_object_end(&self->json);
	}
}

/* Outermost first. */
static void frames_write(struct span_search *self, const struct call *call)
{
	uint32_t frames[STACK_DEPTH_MAX];

	for (size_t count = stack_frames(call->samples, call->stack, frames); count-- > 0;)
		frame_write(self, call, frames[count]);
}

static void call_write(struct span_search *self, const struct call *call, const char *key)
{
	struct json *json = &self->json;

	json_object(json, key);
	json_text(json, "name", call_name(call));
	json_text(json, "domain", domain_name(call->function->domain));
	json_signed(json, "thread",
		    ui_session_thread(self->session, call->thread->number, call->thread->tid));
	json_number(json, "begin_ns", call->begin_ns - MIN(call->begin_ns, self->origin_ns));
	json_number(json, "end_ns", call->end_ns - MIN(call->end_ns, self->origin_ns));
	json_object(json, "values");
	for (unsigned i = 0; i < call->value_count; i++)
		json_number(json, value_name(call->function->values[i]), call->values[i]);
	json_object_end(json);
	json_list(json, "frames");
	frames_write(self, call);
	json_list_end(json);
	json_text(json, "stack_end", call->has_stack ? stack_end_key(call->stack_end) : "");
	json_object_end(json);
}

static int span_look(const struct call *call, void *context)
{
	struct span_search *self = context;

	if (call_is_work(call) != self->wants_work ||
	    call_correlation(self->model, call) != self->correlation)
		return 0;
	self->is_found = true;
	call_write(self, call, self->wants_work ? NULL : "call");
	return !self->wants_work;
}

int answer_span(struct ui *ui, const struct ui_command *command, struct reply *reply,
		struct err *err)
{
	struct ui_session *session = spans_session(ui, command, err);
	struct span_search self = { .json.out = reply->out, .correlation = command->correlation };
	int r = 0;

	if (!session)
		return err->code;
	self.session = session;
	json_object(&self.json, NULL);
	if (command->correlation && (self.model = calls_hold(&session->calls))) {
		self.origin_ns = calls_origin_ns(&session->calls, self.model);
		r = model_each_call(self.model, span_look, &self);
		self.wants_work = true;
		json_list(&self.json, "work");
		if (r >= 0)
			r = model_each_call(self.model, span_look, &self);
		json_list_end(&self.json);
		calls_release(&session->calls);
	}
	json_bool(&self.json, "found", self.is_found);
	json_object_end(&self.json);
	return r < 0 ? err_set(err, r, "call: no memory") : 0;
}
