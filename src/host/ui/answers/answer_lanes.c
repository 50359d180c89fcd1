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

static int heatmap_read(const struct slice *slice, void *context)
{
	struct answer *self = context;
	uint64_t last_ns = MIN(slice->to_ns, MAX(slice->end_ns, slice->from_ns) + 1);
	struct bins bins = { slice->from_ns, (uint64_t)self->command->cell_ms * 1000000u, 0 };
	CLEANUP(bins_sums_done) struct bins_sums sums = { 0 };
	double *cells, most = 0;

	bins.count = (last_ns - MIN(last_ns, slice->from_ns) + bins.step_ns - 1) / bins.step_ns;
	if (bins.count > CELLS_MAX) {
		err_set(self->err, -EINVAL, "%llu cells are too many",
			(unsigned long long)bins.count);
		return err_fix(self->err, "a larger cell_ms, or a shorter range");
	}
	if (bins_sums_init(&sums, bins.count) ||
	    bins_fill(&sums, &bins, &(struct bins_rows){ .count = 1 }, slice))
		return -ENOMEM;
	cells = column_fill(&self->columns, columns_add(&self->columns, "value", COLUMN_F64),
			    bins.count);
	for (uint64_t i = 0; cells && i < bins.count; i++)
		most = MAX(most, cells[i] = sums.cells[i]);
	json_text(self->json, "unit", ui_kind_unit(self->command->kind));
	json_number(self->json, "cell_ns", bins.step_ns);
	json_number(self->json, "cells", bins.count);
	json_rounded(self->json, "max", most, 0);
	json_number(self->json, "from", slice->from_ns - slice->origin_ns);
	json_text(self->json, "empty", most > 0 ? "" : ui_kind_empty(self->command->kind));
	return 0;
}

int answer_heatmap(struct answer *self)
{
	return ui_session_read_kind(self->session, &self->command->range, self->command->kind,
				    heatmap_read, self);
}

/* Threads with a sample have lanes, in order: `rows` gets each one's number.  Returns the number of
 * lanes; -ENOMEM. */
static int64_t lanes_number(struct columns *columns, const struct slice *slice, uint32_t *rows)
{
	static const struct column_name names[] = { { "thread", COLUMN_U32 } };
	CLEANUP(free) struct thread_profile *threads = NULL;
	uint32_t count = 0;

	columns_begin(columns, names, ARRAY_SIZE(names));
	if (slice_threads(slice, &threads))
		return -ENOMEM;
	for (uint32_t i = 0; i < slice->model->thread_count; i++) {
		if (!thread_profile_count(&threads[i]))
			continue;
		rows[i] = count++;
		cell_u32(columns, i);
	}
	return count;
}

/* Two periods of samples: see running_fill(). */
static uint64_t hole_ns(const struct ui_session *session)
{
	return 2000000000u / MAX(session->wish.hz, 1u);
}

/* All lanes of all kinds in one pass. */
static int lanes_fill(struct answer *self, const struct slice *slice, const struct bins *bins,
		      const struct bins_rows *rows)
{
	static const char *const names[SAMPLE_KINDS] = {
		[SAMPLE_RUNNING] = "running",
		[SAMPLE_BLOCKED] = "blocked",
		[SAMPLE_RUNNABLE] = "runnable",
	};
	CLEANUP(bins_sums_done) struct bins_sums sums = { 0 };
	size_t count = rows->kind_step * bins->count;

	if (bins_sums_init(&sums, rows->count * bins->count) ||
	    (ui_session_has_off_cpu(self->session)
		     ? running_fill(&sums, bins, rows, slice, hole_ns(self->session))
		     : bins_fill(&sums, bins, rows, slice)))
		return -ENOMEM;
	for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
		unsigned column = columns_add(&self->columns, names[kind], COLUMN_U8);
		uint8_t *shares = column_fill(&self->columns, column, count);
		const double *cells = sums.cells + kind * count;

		for (size_t i = 0; shares && i < count; i++)
			shares[i] = (uint8_t)MIN(cells[i] * 255 / (double)bins->step_ns, 255.0);
	}
	return 0;
}

static int timeline_read(const struct slice *slice, void *context)
{
	struct answer *self = context;
	const struct ui_range *range = &self->command->range;
	uint64_t from_ns = slice->origin_ns + range->from_ns;
	uint64_t to_ns = range->to_ns ? slice->origin_ns + range->to_ns : slice->to_ns;
	uint64_t last_ns = MIN(to_ns, MAX(slice->end_ns, from_ns) + 1);
	struct bins bins = { from_ns, 1, MAX(self->command->width, 1u) };
	bool has_off_cpu = ui_session_has_off_cpu(self->session);
	CLEANUP(free) uint32_t *rows = calloc(slice->model->thread_count + 1u, sizeof(*rows));
	int64_t count = rows ? lanes_number(&self->columns, slice, rows) : -ENOMEM;

	if (count < 0)
		return (int)count;
	if ((uint64_t)count * bins.count * SAMPLE_KINDS > LANE_CELLS_MAX) {
		err_set(self->err, -EINVAL, "%lld threads are too many for one answer",
			(long long)count);
		return err_fix(self->err, "threads= with some of them");
	}
	bins.step_ns = MAX((last_ns - MIN(last_ns, from_ns)) / bins.count, 1u);
	json_number(self->json, "bin_ns", bins.step_ns);
	json_number(self->json, "width", bins.count);
	json_number(self->json, "from", range->from_ns);
	json_bool(self->json, "has_off_cpu", has_off_cpu);
	json_text(self->json, "running_by", has_off_cpu ? "switches" : "samples");
	json_text(self->json, "empty", count ? "" : "no sample is in this range");
	return lanes_fill(self, slice, &bins,
			  &(struct bins_rows){ (size_t)count * SAMPLE_KINDS, rows, (size_t)count });
}

/* Waits just outside show the state of a thread at the edges. */
int answer_timeline(struct answer *self)
{
	struct ui_range around = self->command->range;
	uint64_t more_ns = hole_ns(self->session);

	around.from_ns -= MIN(around.from_ns, more_ns);
	if (around.to_ns)
		around.to_ns += more_ns;
	return ui_session_read(self->session, &around, KINDS_ALL, timeline_read, self);
}

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

static void frames_write(struct json *json, const struct samples *samples, uint32_t stack)
{
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(samples, stack, frames);

	json_list(json, "frames");
	while (count-- > 0) {
		const struct sample_frame *frame = &samples->frames[frames[count]];

		for (uint32_t i = frame->location_count; i-- > 0;) {
			const struct sample_location *location =
				&samples->locations[frame->first_location + i];
			const struct sample_function *function =
				&samples->functions[location->function];

			json_object(json, NULL);
			json_text(json, "name", function->name);
			json_text(json, "module", samples->codes[function->code].name);
			json_text(json, "file", location->file);
			json_number(json, "line", location->line);
			json_bool(json, "inlined", i + 1 < frame->location_count);
			json_object_end(json);
		}
	}
	json_list_end(json);
}

static int stack_read(const struct slice *slice, void *context)
{
	struct answer *self = context;
	const struct ui_command *command = self->command;
	const struct recorded_sample *sample =
		sample_find(slice, command->thread, slice->origin_ns + command->time_ns);
	const char state[] = { sample && sample->state ? (char)sample->state : '?', '\0' };

	json_bool(self->json, "found", sample);
	if (sample) {
		uint64_t begin_ns = sample->time_ns - MIN(sample->time_ns, sample->weight_ns);

		json_number(self->json, "time_ns",
			    sample->time_ns - MIN(sample->time_ns, slice->origin_ns));
		json_number(self->json, "begin_ns", begin_ns - MIN(begin_ns, slice->origin_ns));
		json_text(self->json, "kind", sample_kind_names[sample->kind]);
		json_text(self->json, "state", state);
		json_bool(self->json, "complete", sample->end == STACK_COMPLETE);
		frames_write(self->json, slice->model->samples, sample->stack);
	}
	return 0;
}

int answer_stack(struct answer *self)
{
	uint64_t time_ns = self->command->time_ns;
	const struct ui_range near = { .from_ns = time_ns - MIN(time_ns, STACK_SEARCH_NS),
				       .to_ns = time_ns + 1 };

	return ui_session_read(self->session, &near, KINDS_ALL, stack_read, self);
}
