/*
 * Answers along the time axis: the heatmap, the lanes of threads, and the stack at one moment.
 */
#include "host/core/cleanup.h"
#include "host/live/store/bins.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <stdlib.h>

#define CELLS_MAX      500000u
#define LANE_CELLS_MAX (16u << 20)
/* How far back a stack is searched for. */
#define STACK_SEARCH_NS UINT64_C(60000000000)

/* The context of slices' readers. */
struct lanes {
	const struct ui_command *command;
	struct columns *columns;
	struct err *err;
	bool has_off_cpu; /* waits are known */
	uint64_t hole_ns; /* two periods of samples: see running_fill() */
};

static int heatmap_check(struct lanes *self, uint64_t cells)
{
	if (cells <= CELLS_MAX)
		return 0;
	err_set(self->err, -EINVAL, "%llu cells are too many", (unsigned long long)cells);
	return err_fix(self->err, "a larger cell_ms, or a shorter range");
}

static int heatmap_read(const struct slice *slice, void *context)
{
	struct lanes *self = context;
	uint64_t last_ns = MIN(slice->to_ns, MAX(slice->end_ns, slice->from_ns) + 1);
	struct bins bins = { slice->from_ns, (uint64_t)self->command->cell_ms * 1000000u, 0 };
	CLEANUP(bins_sums_done) struct bins_sums sums = { 0 };
	double *cells, most = 0;
	int r;

	bins.count = (last_ns - MIN(last_ns, slice->from_ns) + bins.step_ns - 1) / bins.step_ns;
	r = heatmap_check(self, bins.count);
	if (r)
		return r;
	if (bins_sums_init(&sums, bins.count) ||
	    bins_fill(&sums, &bins, &(struct bins_rows){ .count = 1 }, slice))
		return -ENOMEM;
	cells = column_fill(self->columns, columns_add(self->columns, "value", COLUMN_F64),
			    bins.count);
	for (uint64_t i = 0; cells && i < bins.count; i++)
		most = MAX(most, cells[i] = sums.cells[i]);
	json_text(&self->columns->facts, "unit", ui_kind_unit(self->command->kind));
	json_number(&self->columns->facts, "cell_ns", bins.step_ns);
	json_number(&self->columns->facts, "cells", bins.count);
	json_rounded(&self->columns->facts, "max", most, 0);
	json_number(&self->columns->facts, "from", slice->from_ns - slice->origin_ns);
	json_text(&self->columns->facts, "empty",
		  most > 0 ? "" : ui_kind_empty(self->command->kind));
	return 0;
}

/* Waits just outside show the state of a thread at the edges. */
static struct ui_range range_around(const struct ui_range *range, uint64_t more_ns)
{
	struct ui_range around = *range;

	around.from_ns -= MIN(around.from_ns, more_ns);
	if (around.to_ns)
		around.to_ns += more_ns;
	return around;
}

static int lanes_write(struct ui *ui, const struct ui_command *command, enum ui_kind kind,
		       slice_reader *read, struct reply *reply, struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);
	struct lanes self = { .command = command, .columns = &columns, .err = err };
	struct ui_range range;
	int r;

	if (!session || ui_session_follow_kind(session, kind, err))
		return err->code;
	self.has_off_cpu = ui_session_has_off_cpu(session);
	self.hole_ns = 2000000000u / MAX(session->wish.hz, 1u);
	range = range_around(&command->range, command->verb == UI_TIMELINE ? self.hole_ns : 0);
	r = columns_init(&columns);
	if (!r)
		r = ui_session_read_kind(session, &range, kind, read, &self);
	if (r)
		return err->code ? err->code : err_set(err, r, "time axis: no memory");
	return reply_columns(reply, &columns, command->is_json, err);
}

int answer_heatmap(struct ui *ui, const struct ui_command *command, struct reply *reply,
		   struct err *err)
{
	return lanes_write(ui, command, command->kind, heatmap_read, reply, err);
}

/* Threads with a sample have lanes, in order: `rows` gets each one's number.  Returns the number of
 * lanes; -ENOMEM. */
static int64_t lanes_number(struct lanes *self, const struct slice *slice, uint32_t *rows)
{
	static const struct column_name names[] = { { "thread", COLUMN_U32 } };
	CLEANUP(free) struct thread_profile *threads = NULL;
	uint32_t count = 0;

	columns_begin(self->columns, names, ARRAY_SIZE(names));
	if (slice_threads(slice, &threads))
		return -ENOMEM;
	for (uint32_t i = 0; i < slice->model->thread_count; i++) {
		if (!thread_profile_count(&threads[i]))
			continue;
		rows[i] = count++;
		cell_u32(self->columns, i);
	}
	return count;
}

static const char *const lane_names[SAMPLE_KINDS] = {
	[SAMPLE_RUNNING] = "running",
	[SAMPLE_BLOCKED] = "blocked",
	[SAMPLE_RUNNABLE] = "runnable",
};

static void shares_write(struct columns *columns, unsigned column, const double *cells,
			 size_t count, uint64_t step_ns)
{
	uint8_t *shares = column_fill(columns, column, count);

	for (size_t i = 0; shares && i < count; i++)
		shares[i] = (uint8_t)MIN(cells[i] * 255 / (double)step_ns, 255.0);
}

/* All lanes of all kinds in one pass. */
static int lanes_fill(struct lanes *self, const struct slice *slice, const struct bins *bins,
		      const struct bins_rows *rows)
{
	CLEANUP(bins_sums_done) struct bins_sums sums = { 0 };
	size_t cells = rows->kind_step * bins->count;

	if (bins_sums_init(&sums, rows->count * bins->count) ||
	    (self->has_off_cpu ? running_fill(&sums, bins, rows, slice, self->hole_ns)
			       : bins_fill(&sums, bins, rows, slice)))
		return -ENOMEM;
	for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
		shares_write(self->columns, columns_add(self->columns, lane_names[kind], COLUMN_U8),
			     sums.cells + kind * cells, cells, bins->step_ns);
	return 0;
}

static int lanes_check(struct lanes *self, uint64_t lanes, uint64_t width)
{
	if (lanes * width * SAMPLE_KINDS <= LANE_CELLS_MAX)
		return 0;
	err_set(self->err, -EINVAL, "%llu threads are too many for one answer",
		(unsigned long long)lanes);
	return err_fix(self->err, "threads= with some of them");
}

static int timeline_read(const struct slice *slice, void *context)
{
	struct lanes *self = context;
	const struct ui_range *range = &self->command->range;
	uint64_t from_ns = slice->origin_ns + range->from_ns;
	uint64_t to_ns = range->to_ns ? slice->origin_ns + range->to_ns : slice->to_ns;
	uint64_t last_ns = MIN(to_ns, MAX(slice->end_ns, from_ns) + 1);
	struct bins bins = { from_ns, 1, MAX(self->command->width, 1u) };
	CLEANUP(free) uint32_t *rows = calloc(slice->model->thread_count + 1u, sizeof(*rows));
	int64_t count = rows ? lanes_number(self, slice, rows) : -ENOMEM;

	if (count < 0)
		return (int)count;
	if (lanes_check(self, (uint64_t)count, bins.count))
		return self->err->code;
	bins.step_ns = MAX((last_ns - MIN(last_ns, from_ns)) / bins.count, 1u);
	json_number(&self->columns->facts, "bin_ns", bins.step_ns);
	json_number(&self->columns->facts, "width", bins.count);
	json_number(&self->columns->facts, "from", range->from_ns);
	json_bool(&self->columns->facts, "has_off_cpu", self->has_off_cpu);
	json_text(&self->columns->facts, "running_by", self->has_off_cpu ? "switches" : "samples");
	json_text(&self->columns->facts, "empty", count ? "" : "no sample is in this range");
	return lanes_fill(self, slice, &bins,
			  &(struct bins_rows){ (size_t)count * SAMPLE_KINDS, rows, (size_t)count });
}

int answer_timeline(struct ui *ui, const struct ui_command *command, struct reply *reply,
		    struct err *err)
{
	return lanes_write(ui, command, UI_WALL, timeline_read, reply, err);
}

struct stack_answer {
	struct json json;
	const struct ui_command *command;
};

static const char *const sample_kind_names[SAMPLE_KINDS] = {
	[SAMPLE_RUNNING] = "cpu",
	[SAMPLE_BLOCKED] = "off-cpu",
	[SAMPLE_RUNNABLE] = "runnable",
};

/* The one at that moment, else the last that ended before it. */
static const struct recorded_sample *sample_find(const struct slice *slice, uint32_t thread,
						 uint64_t time_ns)
{
	const struct recorded_sample *best = NULL;

	for (size_t i = 0; i < slice->count; i++) {
		const struct recorded_sample *sample = &slice->items[i];

		if (sample->thread != thread ||
		    sample->time_ns - MIN(sample->time_ns, sample->weight_ns) > time_ns)
			continue;
		if (sample->time_ns >= time_ns)
			return sample;
		best = sample;
	}
	return best;
}

static void location_write(struct json *json, const struct samples *samples,
			   const struct sample_location *location, bool is_inlined)
{
	const struct sample_function *function = &samples->functions[location->function];

	json_object(json, NULL);
	json_text(json, "name", function->name);
	json_text(json, "module", samples->codes[function->code].name);
	json_text(json, "file", location->file);
	json_number(json, "line", location->line);
	json_bool(json, "inlined", is_inlined);
	json_object_end(json);
}

static void frames_write(struct json *json, const struct samples *samples, uint32_t stack)
{
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(samples, stack, frames);

	json_list(json, "frames");
	while (count-- > 0) {
		const struct sample_frame *frame = &samples->frames[frames[count]];

		for (uint32_t i = frame->location_count; i-- > 0;)
			location_write(json, samples,
				       &samples->locations[frame->first_location + i],
				       i + 1 < frame->location_count);
	}
	json_list_end(json);
}

static int stack_read(const struct slice *slice, void *context)
{
	struct stack_answer *self = context;
	const struct recorded_sample *sample = sample_find(
		slice, self->command->thread, slice->origin_ns + self->command->time_ns);
	const char state[] = { sample && sample->state ? (char)sample->state : '?', '\0' };

	json_object(&self->json, NULL);
	json_bool(&self->json, "found", sample);
	if (sample) {
		uint64_t begin_ns = sample->time_ns - MIN(sample->time_ns, sample->weight_ns);

		json_number(&self->json, "time_ns",
			    sample->time_ns - MIN(sample->time_ns, slice->origin_ns));
		json_number(&self->json, "begin_ns", begin_ns - MIN(begin_ns, slice->origin_ns));
		json_text(&self->json, "kind", sample_kind_names[sample->kind]);
		json_text(&self->json, "state", state);
		json_bool(&self->json, "complete", sample->end == STACK_COMPLETE);
		frames_write(&self->json, slice->model->samples, sample->stack);
	}
	json_object_end(&self->json);
	return 0;
}

int answer_stack(struct ui *ui, const struct ui_command *command, struct reply *reply,
		 struct err *err)
{
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);
	struct stack_answer self = { .json.out = reply->out, .command = command };
	const struct ui_range near = { .from_ns = command->time_ns -
						  MIN(command->time_ns, STACK_SEARCH_NS),
				       .to_ns = command->time_ns + 1 };

	if (!session)
		return err->code;
	return ui_session_read(session, &near, KINDS_ALL, stack_read, &self)
		       ? err_set(err, -ENOMEM, "stack: no memory")
		       : 0;
}
