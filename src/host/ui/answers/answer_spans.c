/*
 * Answers about spans: lanes of calls and devices, arrows between them, one call with its stack.
 */
#include "host/core/cleanup.h"
#include "host/ui/answers/handlers.h"
#include "host/ui/store/name_tree.h"
#include "host/ui/store/spans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 1000000u

static const char no_calls[] =
	"this session has no traced calls: choose what to trace when you start it";

static const char *const lane_type_names[] = {
	[LANE_CALLS] = "calls",
	[LANE_MARKERS] = "markers",
	[LANE_QUEUE] = "queue",
};

/* Those of a live session were loaded beside it. */
int ui_session_spans(struct ui_session *session, struct err *err)
{
	struct model *model;

	ui_session_follow(session);
	model = ui_session_calls(session);
	if (!model || ui_session_is_live(session))
		return 0;
	return spans_load(&session->calls.shown.spans, model,
			  session->origin_ns + (model->first.boot_ns - model->first.monotonic_ns))
		       ? err_set(err, -ENOMEM, "calls: no memory")
		       : 0;
}

static struct ui_session *spans_session(struct ui *ui, const struct ui_command *command,
					struct err *err)
{
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);

	return session && !ui_session_spans(session, err) ? session : NULL;
}

/* What is narrower than a pixel, so far, on one level of a lane. */
struct merged_span {
	uint64_t pixel, begin_ns, end_ns, longest_ns;
	uint32_t count, name;
	uint8_t domain;
};

struct drawing {
	struct columns *columns;
	const struct spans *spans;
	unsigned lane, level, begin, end, name, correlation, count, domain;
	uint64_t from_ns, to_ns, pixel_ns, rows, left_out;
	struct merged_span *pending; /* by lane and level */
	const bool *is_wanted;
};

static void row_write(struct drawing *self, uint32_t lane, uint8_t level,
		      const struct merged_span *row, uint64_t correlation)
{
	struct columns *columns = self->columns;

	if (self->rows++ >= ROWS_MAX) {
		self->left_out += row->count;
		return;
	}
	column_u32(columns, self->lane, lane);
	column_u8(columns, self->level, level);
	column_f64(columns, self->begin, (double)row->begin_ns);
	column_f64(columns, self->end, (double)row->end_ns);
	column_u32(columns, self->name, row->name);
	column_f64(columns, self->correlation, (double)correlation);
	column_u32(columns, self->count, row->count);
	column_u8(columns, self->domain, row->domain);
}

static void pending_flush(struct drawing *self, uint32_t lane, uint8_t level)
{
	struct merged_span *pending = &self->pending[lane * SPAN_LEVELS_MAX + level];

	if (pending->count)
		row_write(self, lane, level, pending, 0);
	*pending = (struct merged_span){ 0 };
}

static void pending_add(struct drawing *self, const struct span *span)
{
	struct merged_span *pending = &self->pending[span->lane * SPAN_LEVELS_MAX + span->level];
	uint64_t pixel = (span->begin_ns - MIN(span->begin_ns, self->from_ns)) / self->pixel_ns;
	uint64_t length_ns = span->end_ns - MIN(span->end_ns, span->begin_ns);

	if (pending->count && pending->pixel != pixel)
		pending_flush(self, span->lane, span->level);
	if (!pending->count || length_ns > pending->longest_ns) {
		pending->name = span->name;
		pending->domain = span->domain;
		pending->longest_ns = length_ns;
	}
	if (!pending->count)
		pending->begin_ns = span->begin_ns;
	pending->pixel = pixel;
	pending->end_ns = MAX(pending->end_ns, span->end_ns);
	pending->count++;
}

static void span_draw(struct drawing *self, const struct span *span)
{
	const struct merged_span row = { .begin_ns = span->begin_ns,
					 .end_ns = span->end_ns,
					 .name = span->name,
					 .domain = span->domain,
					 .count = 1 };

	if (span->begin_ns >= self->to_ns || span->end_ns < self->from_ns ||
	    (self->is_wanted && !self->is_wanted[span->lane]))
		return;
	if (span->end_ns - MIN(span->end_ns, span->begin_ns) < self->pixel_ns) {
		pending_add(self, span);
		return;
	}
	pending_flush(self, span->lane, span->level);
	row_write(self, span->lane, span->level, &row, span->correlation);
}

static void drawing_columns(struct drawing *self)
{
	self->lane = columns_add(self->columns, "lane", COLUMN_U32);
	self->level = columns_add(self->columns, "level", COLUMN_U8);
	self->begin = columns_add(self->columns, "begin", COLUMN_F64);
	self->end = columns_add(self->columns, "end", COLUMN_F64);
	self->name = columns_add(self->columns, "name", COLUMN_U32);
	self->correlation = columns_add(self->columns, "correlation", COLUMN_F64);
	self->count = columns_add(self->columns, "count", COLUMN_U32);
	self->domain = columns_add(self->columns, "domain", COLUMN_U8);
}

static void lanes_describe(struct json *json, const struct ui_session *session)
{
	const struct spans *spans = &session->calls.shown.spans;

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

/* Lanes of the threads that were asked for, and all that are no thread's. */
static bool *lanes_choose(const struct ui_session *session, const struct ui_range *range)
{
	const struct spans *spans = &session->calls.shown.spans;
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

	self->is_wanted = wanted;
	self->pending =
		calloc(self->spans->lane_count * SPAN_LEVELS_MAX + 1, sizeof(*self->pending));
	if (!wanted || !self->pending)
		return -ENOMEM;
	drawing_columns(self);
	for (size_t i = 0; i < self->spans->count && self->spans->items[i].begin_ns < self->to_ns;
	     i++)
		span_draw(self, &self->spans->items[i]);
	for (uint32_t lane = 0; lane < self->spans->lane_count; lane++)
		for (uint8_t level = 0; level < SPAN_LEVELS_MAX; level++)
			pending_flush(self, lane, level);
	return 0;
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
	self.spans = &session->calls.shown.spans;
	self.from_ns = command->range.from_ns;
	self.to_ns = command->range.to_ns ? command->range.to_ns : ui_session_end_ns(session) + 1;
	self.pixel_ns =
		MAX((self.to_ns - MIN(self.to_ns, self.from_ns)) / MAX(command->width, 1u), 1u);
	r = columns_init(&columns);
	if (!r)
		r = spans_draw(&self, session, command);
	free(self.pending);
	if (r)
		return err_set(err, r, "calls: no memory");
	column_pool(&columns, columns_add(&columns, "names", COLUMN_TEXTS),
		    &session->calls.shown.spans.names);
	lanes_describe(&columns.facts, session);
	json_number(&columns.facts, "left_out",
		    self.left_out + session->calls.shown.spans.left_out);
	json_text(&columns.facts, "empty", session->calls.shown.spans.count ? "" : no_calls);
	return reply_columns(reply, &columns, command->is_json, err);
}

struct flow_columns {
	unsigned from_lane, from_level, from_time, to_lane, to_level, to_time, correlation;
};

static struct flow_columns flow_columns_add(struct columns *columns)
{
	return (struct flow_columns){
		.from_lane = columns_add(columns, "from_lane", COLUMN_U32),
		.from_level = columns_add(columns, "from_level", COLUMN_U8),
		.from_time = columns_add(columns, "from_time", COLUMN_F64),
		.to_lane = columns_add(columns, "to_lane", COLUMN_U32),
		.to_level = columns_add(columns, "to_level", COLUMN_U8),
		.to_time = columns_add(columns, "to_time", COLUMN_F64),
		.correlation = columns_add(columns, "correlation", COLUMN_F64),
	};
}

static void flow_write(struct columns *columns, const struct flow_columns *to,
		       const struct span *cause, const struct span *work)
{
	column_u32(columns, to->from_lane, cause->lane);
	column_u8(columns, to->from_level, cause->level);
	column_f64(columns, to->from_time, (double)cause->begin_ns);
	column_u32(columns, to->to_lane, work->lane);
	column_u8(columns, to->to_level, work->level);
	column_f64(columns, to->to_time, (double)work->begin_ns);
	column_f64(columns, to->correlation, (double)work->correlation);
}

int answer_flows(struct ui *ui, const struct ui_command *command, struct reply *reply,
		 struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	struct ui_session *session = spans_session(ui, command, err);
	struct flow_columns to;
	uint64_t count = 0, more = 0;

	if (!session)
		return err->code;
	if (columns_init(&columns))
		return err_set(err, -ENOMEM, "arrows: no memory");
	to = flow_columns_add(&columns);
	for (size_t i = 0; i < session->calls.shown.spans.count; i++) {
		const struct span *work = &session->calls.shown.spans.items[i], *cause;

		if (!work->is_work || work->begin_ns < command->range.from_ns ||
		    (command->range.to_ns && work->begin_ns >= command->range.to_ns))
			continue;
		cause = spans_cause(&session->calls.shown.spans, work);
		if (cause && count < command->limit)
			flow_write(&columns, &to, cause, work);
		count += cause && count < command->limit;
		more += cause != NULL;
	}
	json_number(&columns.facts, "more", more - count);
	json_text(&columns.facts, "empty", session->calls.shown.spans.count ? "" : no_calls);
	return reply_columns(reply, &columns, command->is_json, err);
}

/* One call and what it caused, with all that was recorded of them. */
struct span_search {
	struct json json;
	struct ui_session *session;
	struct model *model;
	uint64_t correlation, origin_ns;
	bool wants_work, is_found;
};

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
	for (unsigned i = call->frame_count; i-- > 0;) {
		const struct call_name *name = ui_session_call_name(self->session, call, i);

		json_object(json, NULL);
		json_text(json, "name", name ? name->function : "");
		json_text(json, "module", name ? name->module : "");
		json_object_end(json);
	}
	json_list_end(json);
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
	self.model = ui_session_calls(session);
	json_object(&self.json, NULL);
	if (self.model && command->correlation) {
		self.origin_ns = session->origin_ns +
				 (self.model->first.boot_ns - self.model->first.monotonic_ns);
		r = model_each_call(self.model, span_look, &self);
		self.wants_work = true;
		json_list(&self.json, "work");
		if (r >= 0)
			r = model_each_call(self.model, span_look, &self);
		json_list_end(&self.json);
	}
	json_bool(&self.json, "found", self.is_found);
	json_object_end(&self.json);
	return r < 0 ? err_set(err, r, "call: no memory") : 0;
}
