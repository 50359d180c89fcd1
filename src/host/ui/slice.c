/*
 * Adds up slices.  Cells are found by the number of the stack, without a table: ten million samples
 * take some ten milliseconds.
 */
#include "host/ui/slice.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct cell {
	uint64_t weight_ns, count;
	double squares;
};

/* What is told apart of a stack: whether its outermost frame was reached. */
#define CELLS 2u

static void cell_add(struct cell *cell, const struct piece *piece)
{
	uint64_t weight_ns = piece->end_ns - MIN(piece->end_ns, piece->begin_ns);

	cell->weight_ns += weight_ns;
	cell->count++;
	cell->squares += (double)weight_ns * (double)weight_ns;
}

/* Stack number and one, so that samples without a frame have cells too. */
static size_t cell_of(const struct recorded_sample *sample)
{
	return (size_t)(sample->stack + 1u) * CELLS + (sample->end != STACK_COMPLETE);
}

static int entry_add(struct profile *profile, uint32_t thread, size_t at, const struct cell *cell)
{
	if (make_room(&profile->entries, profile->count, &profile->room, sizeof(*profile->entries)))
		return -ENOMEM;
	profile->entries[profile->count++] = (struct profile_entry){
		.thread = thread,
		.stack = (uint32_t)(at / CELLS) - 1u,
		.end = at % CELLS ? STACK_CUT : STACK_COMPLETE,
		.count = cell->count,
		.weight_ns = cell->weight_ns,
		.squares = cell->squares,
	};
	profile->sample_count += cell->count;
	profile->weight_ns += cell->weight_ns;
	profile->squares += cell->squares;
	return 0;
}

static int cells_add_all(const struct cell *cells, size_t count, uint32_t thread,
			 struct profile *ret)
{
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		if (cells[i].count)
			r = entry_add(ret, thread, i, &cells[i]);
	return r;
}

static int gather_all(const struct slice *slice, struct cell *cells, size_t count,
		      struct profile *ret)
{
	struct piece piece;

	for (size_t i = 0; i < slice->count; i++)
		if (slice_piece(slice, &slice->items[i], &piece))
			cell_add(&cells[cell_of(&slice->items[i])], &piece);
	return cells_add_all(cells, count, THREAD_NONE, ret);
}

/* The samples' numbers thread by thread; `ends` are where each begins, then. */
static void threads_sort(const struct slice *slice, uint32_t *order, size_t *ends)
{
	uint32_t threads = slice->model->thread_count;

	for (size_t i = 0; i < slice->count; i++)
		ends[slice->items[i].thread]++;
	for (uint32_t i = 1; i < threads; i++)
		ends[i] += ends[i - 1];
	for (size_t i = slice->count; i-- > 0;)
		order[--ends[slice->items[i].thread]] = (uint32_t)i;
}

/* Of one thread; the cells are empty again afterwards. */
static int gather_thread(const struct slice *slice, struct cell *cells, const uint32_t *order,
			 size_t count, struct profile *ret)
{
	struct piece piece;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		if (slice_piece(slice, &slice->items[order[i]], &piece))
			cell_add(&cells[cell_of(&slice->items[order[i]])], &piece);
	for (size_t i = 0; i < count; i++) {
		const struct recorded_sample *sample = &slice->items[order[i]];
		struct cell *cell = &cells[cell_of(sample)];

		if (cell->count && !r)
			r = entry_add(ret, sample->thread, cell_of(sample), cell);
		*cell = (struct cell){ 0 };
	}
	return r;
}

static int gather_by_thread(const struct slice *slice, struct cell *cells, struct profile *ret)
{
	uint32_t threads = slice->model->thread_count;
	CLEANUP(free) uint32_t *order = calloc(slice->count + 1, sizeof(*order));
	CLEANUP(free) size_t *begins = calloc(threads + 1u, sizeof(*begins));
	int r = 0;

	if (!order || !begins)
		return -ENOMEM;
	threads_sort(slice, order, begins);
	begins[threads] = slice->count;
	for (uint32_t i = 0; !r && i < threads; i++)
		r = gather_thread(slice, cells, order + begins[i], begins[i + 1] - begins[i], ret);
	return r;
}

int slice_gather(const struct slice *slice, bool is_by_thread, struct profile *ret)
{
	size_t count = (slice->model->samples->stack_count + 1) * CELLS;
	CLEANUP(free) struct cell *cells = calloc(count, sizeof(*cells));

	*ret = (struct profile){ .samples = slice->model->samples };
	if (!cells)
		return -ENOMEM;
	return is_by_thread ? gather_by_thread(slice, cells, ret)
			    : gather_all(slice, cells, count, ret);
}

int slice_threads(const struct slice *slice, struct thread_profile **ret)
{
	struct thread_profile *rows = calloc(slice->model->thread_count + 1u, sizeof(*rows));
	struct piece piece;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < slice->model->thread_count; i++)
		rows[i].thread = slice->model->threads[i];
	for (size_t i = 0; i < slice->count; i++) {
		const struct recorded_sample *sample = &slice->items[i];
		struct thread_profile *row = &rows[sample->thread];
		uint64_t weight_ns;

		if (!slice_piece(slice, sample, &piece))
			continue;
		weight_ns = piece.end_ns - MIN(piece.end_ns, piece.begin_ns);
		row->counts[sample->kind]++;
		row->weights_ns[sample->kind] += weight_ns;
		if (sample->kind == SAMPLE_BLOCKED && sample->state == 'D')
			row->disk_ns += weight_ns;
		row->incomplete += sample->end != STACK_COMPLETE;
	}
	*ret = rows;
	return 0;
}
