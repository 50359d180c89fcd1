/*
 * Adds up slices.  Cells are found by the number of the stack, without a table.
 */
#include "host/live/store/slice.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/threads/quiet_thread.h"
#include "host/live/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Stacks are distinguished by whether their outermost frame was reached. */
#define CELLS 2u
/* So many samples are worth a second thread. */
#define FOR_TWO ((size_t)1 << 20)

/* By sums if there are any; these do not distinguish threads. */
static const struct store *store_of(const struct slice *slice)
{
	return slice->is_wanted ? NULL : slice->store;
}

static int entry_add(struct profile *profile, uint32_t thread, size_t at, const struct sum *cell)
{
	if (make_room(&profile->entries, profile->count, &profile->room, sizeof(*profile->entries)))
		return -ENOMEM;
	profile->entries[profile->count++] = (struct profile_entry){
		.thread = thread,
		.stack = (uint32_t)(at / CELLS) - 1u,
		.end = at % CELLS ? STACK_CUT : STACK_COMPLETE,
		.count = cell->count,
		.weight_ns = cell->weight_ns,
		.squares = (double)cell->squares,
	};
	profile->sample_count += cell->count;
	profile->weight_ns += cell->weight_ns;
	profile->squares += (double)cell->squares;
	return 0;
}

static int cells_add_all(const struct sum *cells, size_t count, uint32_t thread,
			 struct profile *ret)
{
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		if (cells[i].count)
			r = entry_add(ret, thread, i, &cells[i]);
	return r;
}

/* Some of a slice's samples, on a thread. */
struct gathering {
	const struct slice *slice;
	size_t first, end;
	struct sum *cells;
};

static void *samples_gather(void *argument)
{
	const struct gathering *self = argument;
	const struct slice *slice = self->slice;
	struct piece piece;

	for (size_t i = self->first; i < self->end; i++)
		if (slice_piece(slice, &slice->items[i], &piece))
			sum_add(&self->cells[store_stack_cell(&slice->items[i])], piece.weight);
	return NULL;
}

static void cells_join(struct sum *cells, const struct sum *others, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cells[i].count += others[i].count;
		cells[i].weight_ns += others[i].weight_ns;
		cells[i].squares += others[i].squares;
	}
}

/* Many samples by two threads: the first picture of a recording does not wait for sums. */
static void gather_each(const struct slice *slice, struct sum *cells, size_t count)
{
	CLEANUP(free)
	struct sum *others = slice->count > FOR_TWO ? calloc(count, sizeof(*others)) : NULL;
	struct gathering half = { slice, 0, others ? slice->count / 2 : 0, others };
	struct gathering rest = { slice, half.end, slice->count, cells };
	pthread_t thread;
	bool is_there = others && !quiet_thread(&thread, samples_gather, &half);

	samples_gather(&rest);
	if (is_there)
		pthread_join(thread, NULL);
	else
		samples_gather(&half);
	if (others)
		cells_join(cells, others, count);
}

static int gather_all(const struct slice *slice, struct sum *cells, size_t count,
		      struct profile *ret)
{
	const struct store *store = store_of(slice);

	if (store)
		store_add(store, &store->stacks, slice, cells);
	else
		gather_each(slice, cells, count);
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
static int gather_thread(const struct slice *slice, struct sum *cells, const uint32_t *order,
			 size_t count, struct profile *ret)
{
	struct piece piece;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		if (slice_piece(slice, &slice->items[order[i]], &piece))
			sum_add(&cells[store_stack_cell(&slice->items[order[i]])], piece.weight);
	for (size_t i = 0; i < count; i++) {
		const struct recorded_sample *sample = &slice->items[order[i]];
		struct sum *cell = &cells[store_stack_cell(sample)];

		if (cell->count && !r)
			r = entry_add(ret, sample->thread, store_stack_cell(sample), cell);
		*cell = (struct sum){ 0 };
	}
	return r;
}

static int gather_by_thread(const struct slice *slice, struct sum *cells, struct profile *ret)
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
	CLEANUP(free) struct sum *cells = calloc(count, sizeof(*cells));

	*ret = (struct profile){ .samples = slice->model->samples };
	if (!cells)
		return -ENOMEM;
	return is_by_thread ? gather_by_thread(slice, cells, ret)
			    : gather_all(slice, cells, count, ret);
}

static void row_add(struct thread_profile *row, const struct recorded_sample *sample,
		    uint64_t weight_ns)
{
	row->counts[sample->kind]++;
	row->weights_ns[sample->kind] += weight_ns;
	if (sample->kind == SAMPLE_BLOCKED && sample->state == 'D')
		row->disk_ns += weight_ns;
	row->incomplete += sample->end != STACK_COMPLETE;
}

/* The cells of one kind, by store_thread_cell(). */
static void rows_add(struct thread_profile *rows, unsigned kind, const struct sum *cells,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct thread_profile *row = &rows[i / 4];

		row->counts[kind] += cells[i].count;
		row->weights_ns[kind] += cells[i].weight_ns;
		row->disk_ns += i & 2 ? cells[i].weight_ns : 0;
		row->incomplete += i & 1 ? cells[i].count : 0;
	}
}

static int threads_sum(const struct slice *slice, struct thread_profile *rows)
{
	size_t count = (size_t)slice->model->thread_count * 4;
	CLEANUP(free) struct sum *cells = calloc(count + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
		struct slice part = *slice;

		part.kinds &= KIND_BIT(kind);
		if (!part.kinds)
			continue;
		memset(cells, 0, count * sizeof(*cells));
		store_add(slice->store, &slice->store->threads, &part, cells);
		rows_add(rows, kind, cells, count);
	}
	return 0;
}

int slice_threads(const struct slice *slice, struct thread_profile **ret)
{
	CLEANUP(free)
	struct thread_profile *rows = calloc(slice->model->thread_count + 1u, sizeof(*rows));
	struct piece piece;
	int r = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < slice->model->thread_count; i++)
		rows[i].thread = slice->model->threads[i];
	if (store_of(slice))
		r = threads_sum(slice, rows);
	for (size_t i = 0; !store_of(slice) && i < slice->count; i++)
		if (slice_piece(slice, &slice->items[i], &piece))
			row_add(&rows[slice->items[i].thread], &slice->items[i], piece.weight);
	if (!r)
		*ret = TAKE(rows);
	return r;
}
