/*
 * Reads windows.  Every number is checked against earlier ones; invalid ones are skipped.
 */
#include "host/model/windows/windows.h"

#include "host/core/room.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void windows_done(struct windows *windows)
{
	free(windows->metrics);
	free(windows->chunks);
}

static int add_metric(struct model *model, struct recorded_metric *facts)
{
	struct windows *self = &model->windows;

	if (facts->form >= METRIC_FORMS ||
	    (facts->process != PROCESS_NONE && facts->process >= model->process_count))
		return -EPROTO;
	if (self->metric_count >= model->records_max)
		return -EFBIG;
	if (make_room(&self->metrics, self->metric_count, &self->metric_room,
		      sizeof(*self->metrics)) ||
	    item_keep(CHUNK_METRICS, facts, &model->texts))
		return -ENOMEM;
	self->metrics[self->metric_count] = (struct model_metric){
		.number = (uint32_t)self->metric_count,
		.process = facts->process == PROCESS_NONE ? NULL : model->processes[facts->process],
		.form = (enum metric_form)facts->form,
		.device = facts->device,
		.source = facts->source,
		.name = facts->name,
		.unit = facts->unit,
		.subject = facts->subject,
		.description = facts->description,
	};
	self->metric_count++;
	return 0;
}

int windows_read_metrics(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct recorded_metric facts;
	struct numbered_head head;
	int r = numbered_read(&cursor, &head);

	if (!r && head.first != model->windows.metric_count)
		r = -EPROTO;
	for (uint32_t i = 0; !r && i < head.count; i++) {
		r = item_read(&cursor, CHUNK_METRICS, &facts);
		if (!r)
			r = add_metric(model, &facts);
	}
	return r;
}

static struct window window_of(const struct model *model, const struct recorded_window *recorded)
{
	return (struct window){
		.metric = &model->windows.metrics[recorded->metric],
		.begin_ns = model_boot_ns(model, recorded->begin_ns),
		.end_ns = model_boot_ns(model, recorded->end_ns),
		.has_value = !(recorded->flags & WINDOW_MISSING),
		.is_estimated = recorded->flags & WINDOW_ESTIMATED,
		.value = recorded->value,
	};
}

static bool is_within(const struct model *model, const struct window *window)
{
	uint64_t middle_ns = window->begin_ns + (window->end_ns - window->begin_ns) / 2;

	return !model->to_ns || (middle_ns >= model->from_ns && middle_ns < model->to_ns);
}

static int chunk_visit(const struct model *model, struct cursor cursor, window_visitor *visit,
		       void *context)
{
	struct window_packer packer = { 0 };
	struct recorded_window recorded;
	struct numbered_head head;
	int r = numbered_read(&cursor, &head);

	for (uint32_t i = 0; !r && i < head.count; i++) {
		struct window window;

		r = window_unpack(&cursor, &packer, &recorded);
		if (!r && recorded.metric >= model->windows.metric_count)
			r = -EPROTO;
		if (r)
			break;
		window = window_of(model, &recorded);
		if (is_within(model, &window))
			r = visit(&window, context);
	}
	return r;
}

int windows_count(const struct window *window, void *context)
{
	struct windows *counted = context;

	counted->first_ns =
		counted->count ? MIN(counted->first_ns, window->begin_ns) : window->begin_ns;
	counted->last_ns = MAX(counted->last_ns, window->end_ns);
	counted->count++;
	return 0;
}

/* All windows of a chunk, or none of them.  Validated once now, so that later readings need not. */
int windows_read_chunk(struct model *model, const struct chunk *chunk)
{
	struct windows *self = &model->windows;
	struct windows counted = *self;
	struct cursor cursor = chunk->payload;
	struct numbered_head head;
	int r;

	if (numbered_read(&cursor, &head) ||
	    head.count > (size_t)(cursor.end - cursor.at) / WINDOW_BYTES_LEAST)
		return -EPROTO;
	if (head.count > model->records_max - MIN(self->count, model->records_max))
		return -EFBIG;
	r = chunk_visit(model, chunk->payload, windows_count, &counted);
	if (r)
		return r;
	if (make_room(&self->chunks, self->chunk_count, &self->chunk_room, sizeof(*self->chunks)))
		return -ENOMEM;
	self->chunks[self->chunk_count++] = chunk->at;
	self->count = counted.count;
	self->first_ns = counted.first_ns;
	self->last_ns = counted.last_ns;
	return 0;
}

int model_each_window(struct model *model, window_visitor *visit, void *context)
{
	struct chunk chunk;
	int r = 0;

	for (size_t i = 0; !r && i < model->windows.chunk_count; i++)
		/* One that is not there any more was there before: the file is being changed. */
		if (!reader_at(model->reader, model->windows.chunks[i], &chunk))
			r = chunk_visit(model, chunk.payload, visit, context);
	return r == -EPROTO ? 0 : r;
}

bool metric_is_time(const struct model_metric *metric)
{
	return !strcmp(metric->unit, "ns");
}

const char *metric_form_name(enum metric_form form)
{
	return form == METRIC_COUNT ? "count" : "level";
}

bool window_rate(const struct window *window, double *ret)
{
	uint64_t length_ns = window->end_ns - window->begin_ns;

	if (!window->has_value || (window->metric->form == METRIC_COUNT && !length_ns))
		return false;
	*ret = window->value;
	if (window->metric->form == METRIC_COUNT)
		*ret = window->value / (double)length_ns *
		       (metric_is_time(window->metric) ? 1 : 1e9);
	return true;
}

const char *metric_rate_unit(const struct model_metric *metric)
{
	if (metric->form == METRIC_LEVEL)
		return metric->unit;
	if (metric_is_time(metric))
		return metric->device == METRIC_NO_DEVICE ? "CPUs" : "of 1";
	return !strcmp(metric->unit, "B") ? "B/s" : "/s";
}

void metric_title(const struct model *model, const struct model_metric *metric, char *ret,
		  size_t room)
{
	char of[96] = "";

	if (metric->process && model->process_count > 1)
		print_into(of, sizeof(of), ", %s %d", metric->process->name, metric->process->pid);
	print_into(ret, room, "%s%s%s%s", metric->name, metric->subject[0] ? ", " : "",
		   metric->subject, of);
}

struct points {
	point_visitor *visit;
	void *context;
	uint64_t *ends; /* of the last window of each metric; 0: none */
};

/* Nothing is known from there on. */
static int series_end(struct points *self, const struct model_metric *metric)
{
	uint64_t end_ns = self->ends[metric->number];

	self->ends[metric->number] = 0;
	return end_ns && metric->form == METRIC_COUNT
		       ? self->visit(metric, end_ns, 0, self->context)
		       : 0;
}

static int series_take(const struct window *window, void *context)
{
	struct points *self = context;
	uint64_t *end_ns = &self->ends[window->metric->number];
	double value;
	int r = 0;

	if (*end_ns != window->begin_ns)
		r = series_end(self, window->metric);
	if (r || !window_rate(window, &value))
		return r ? r : series_end(self, window->metric);
	*end_ns = window->end_ns;
	return self->visit(window->metric, window->begin_ns, value, self->context);
}

int model_each_point(struct model *model, point_visitor *visit, void *context)
{
	size_t count = model->windows.metric_count;
	struct points self = { visit, context, calloc(count + 1, sizeof(*self.ends)) };
	int r = self.ends ? model_each_window(model, series_take, &self) : -ENOMEM;

	for (size_t i = 0; !r && i < count; i++)
		r = series_end(&self, &model->windows.metrics[i]);
	free(self.ends);
	return r;
}

static int row_add(const struct window *window, void *context)
{
	struct window_row *row = &((struct window_summary *)context)->rows[window->metric->number];
	uint64_t length_ns = window->end_ns - window->begin_ns;
	double rate;

	if (!window_rate(window, &rate)) {
		row->missing++;
		return 0;
	}
	row->least = row->windows && row->least < rate ? row->least : rate;
	row->most = row->windows && row->most > rate ? row->most : rate;
	row->total += window->value;
	row->mean += rate * (double)length_ns;
	row->time_ns += length_ns;
	row->estimated += window->is_estimated;
	row->windows++;
	return 0;
}

int window_summary_make(struct model *model, struct window_summary *ret)
{
	const struct windows *windows = &model->windows;
	int r;

	ret->count = windows->metric_count;
	ret->rows = calloc(MAX(ret->count, (size_t)1), sizeof(*ret->rows));
	if (!ret->rows)
		return -ENOMEM;
	for (size_t i = 0; i < ret->count; i++)
		ret->rows[i].metric = &windows->metrics[i];
	r = model_each_window(model, row_add, ret);
	for (size_t i = 0; i < ret->count; i++)
		if (ret->rows[i].time_ns)
			ret->rows[i].mean /= (double)ret->rows[i].time_ns;
	if (r)
		window_summary_done(ret);
	return r;
}

void window_summary_done(struct window_summary *summary)
{
	free(summary->rows);
	*summary = (struct window_summary){ 0 };
}
