/*
 * Adds up along the time axis.
 */
#include "host/live/store/bins.h"

#include "host/core/threads/quiet_thread.h"

#include <errno.h>
#include <stdlib.h>

/* So many samples are worth a second thread, which has cells of its own: at most so many. */
#define FOR_TWO       ((size_t)1 << 18)
#define TWO_CELLS_MAX ((size_t)1 << 20)

int bins_sums_init(struct bins_sums *ret, size_t cells)
{
	*ret = (struct bins_sums){ calloc(cells + 1, sizeof(*ret->cells)),
				   calloc(cells + 1, sizeof(*ret->whole)) };
	if (ret->cells && ret->whole)
		return 0;
	bins_sums_done(ret);
	return -ENOMEM;
}

void bins_sums_done(struct bins_sums *sums)
{
	free(sums->cells);
	free(sums->whole);
	*sums = (struct bins_sums){ 0 };
}

/* The part within the bins, relative to the first of them; false: none. */
static bool piece_clip(const struct bins *bins, const struct piece *piece, struct piece *ret)
{
	uint64_t begin_ns = piece->begin_ns - MIN(piece->begin_ns, bins->from_ns);
	uint64_t end_ns = piece->end_ns - MIN(piece->end_ns, bins->from_ns);
	uint64_t last_ns = bins->step_ns > UINT64_MAX / MAX(bins->count, 1u)
				   ? UINT64_MAX
				   : bins->step_ns * bins->count;

	*ret = (struct piece){ .begin_ns = begin_ns, .end_ns = MIN(end_ns, last_ns) };
	return ret->begin_ns < ret->end_ns;
}

/* Its two ends are added to their bins; the full bins between them are marked at both ends. */
void bins_add(struct bins_sums *self, const struct bins *bins, size_t first,
	      const struct piece *given)
{
	struct piece piece;
	uint64_t begin, end;

	if (!piece_clip(bins, given, &piece))
		return;
	begin = piece.begin_ns / bins->step_ns;
	if (piece.end_ns - begin * bins->step_ns <= bins->step_ns) {
		self->cells[first + begin] += (double)(piece.end_ns - piece.begin_ns);
		return;
	}
	end = (piece.end_ns - 1) / bins->step_ns;
	self->cells[first + begin] += (double)((begin + 1) * bins->step_ns - piece.begin_ns);
	self->cells[first + end] += (double)(piece.end_ns - end * bins->step_ns);
	self->whole[first + begin + 1]++;
	self->whole[first + end]--;
}

void bins_sums_finish(struct bins_sums *self, const struct bins *bins, size_t cells)
{
	int64_t whole = 0;

	for (size_t i = 0; i < cells; i++) {
		whole += self->whole[i];
		self->cells[i] += (double)whole * (double)bins->step_ns;
	}
}

/* A weight that is no time belongs to one bin. */
static void point_add(double *cells, const struct bins *bins, const struct piece *piece)
{
	uint64_t bin = (piece->end_ns - MIN(piece->end_ns, bins->from_ns)) / bins->step_ns;

	if (bin < bins->count)
		cells[bin] += (double)piece->weight;
}

/* Some of a slice's samples, on a thread. */
struct filling {
	const struct slice *slice;
	const struct bins *bins;
	const struct bins_rows *rows;
	size_t first, end;
	struct bins_sums sums;
};

static size_t cell_of(const struct filling *self, const struct recorded_sample *sample)
{
	const struct bins_rows *rows = self->rows;
	size_t row = rows->of_threads ? rows->of_threads[sample->thread] : 0;

	return (row + sample->kind * rows->kind_step) * self->bins->count;
}

static void *samples_fill(void *argument)
{
	struct filling *self = argument;
	const struct slice *slice = self->slice;
	struct piece piece;

	for (size_t i = self->first; i < self->end; i++) {
		const struct recorded_sample *sample = &slice->items[i];

		if (!slice_piece(slice, sample, &piece))
			continue;
		if (slice->is_points)
			point_add(self->sums.cells + cell_of(self, sample), self->bins, &piece);
		else
			bins_add(&self->sums, self->bins, cell_of(self, sample), &piece);
	}
	return NULL;
}

static void sums_join(struct bins_sums *self, const struct bins_sums *others, size_t cells)
{
	for (size_t i = 0; i < cells; i++) {
		self->cells[i] += others->cells[i];
		self->whole[i] += others->whole[i];
	}
}

/* The second half beside the first; 0 or -ENOMEM. */
static int halves_fill(struct filling *all, size_t cells)
{
	struct filling second = *all;
	pthread_t thread;
	bool is_there;

	if (bins_sums_init(&second.sums, cells))
		return -ENOMEM;
	second.first = all->end /= 2;
	is_there = !quiet_thread(&thread, samples_fill, &second);
	samples_fill(all);
	if (is_there)
		pthread_join(thread, NULL);
	else
		samples_fill(&second);
	sums_join(&all->sums, &second.sums, cells);
	bins_sums_done(&second.sums);
	return 0;
}

int bins_fill(struct bins_sums *sums, const struct bins *bins, const struct bins_rows *rows,
	      const struct slice *slice)
{
	size_t cells = rows->count * bins->count;
	struct filling all = { slice, bins, rows, 0, slice->count, *sums };
	int r = 0;

	if (slice->count >= FOR_TWO && cells <= TWO_CELLS_MAX)
		r = halves_fill(&all, cells);
	else
		samples_fill(&all);
	bins_sums_finish(sums, bins, cells);
	return r;
}
