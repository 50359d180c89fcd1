/*
 * Adds up along the time axis.
 */
#include "host/ui/store/bins.h"

#include <errno.h>
#include <stdlib.h>

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

/* The part that lies in bins, from the first of them on; false: none does. */
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

/* Its two ends by what lies in their bins; the full bins between them by where they begin and end.
 */
void bins_add(struct bins_sums *self, const struct bins *bins, size_t first,
	      const struct piece *given)
{
	struct piece piece;
	uint64_t begin, end;

	if (!piece_clip(bins, given, &piece))
		return;
	begin = piece.begin_ns / bins->step_ns;
	end = (piece.end_ns - 1) / bins->step_ns;
	if (begin == end) {
		self->cells[first + begin] += (double)(piece.end_ns - piece.begin_ns);
		return;
	}
	self->cells[first + begin] += (double)((begin + 1) * bins->step_ns - piece.begin_ns);
	self->cells[first + end] += (double)(piece.end_ns - end * bins->step_ns);
	self->whole[first + begin + 1]++;
	self->whole[first + end]--;
}

void bins_sums_finish(struct bins_sums *self, const struct bins *bins, size_t cells)
{
	double whole = 0;

	for (size_t i = 0; i < cells; i++) {
		whole += self->whole[i];
		self->cells[i] += whole * (double)bins->step_ns;
	}
}

/* A weight that is no time lies in one bin. */
static void point_add(double *cells, const struct bins *bins, const struct piece *piece)
{
	uint64_t bin = (piece->end_ns - MIN(piece->end_ns, bins->from_ns)) / bins->step_ns;

	if (bin < bins->count)
		cells[bin] += (double)piece->weight;
}

int bins_fill(const struct bins *bins, const struct slice *slice, double *cells)
{
	struct bins_sums sums = { cells, calloc(bins->count + 1, sizeof(*sums.whole)) };
	struct piece piece;

	if (!sums.whole)
		return -ENOMEM;
	for (size_t i = 0; i < slice->count; i++)
		if (!slice_piece(slice, &slice->items[i], &piece))
			continue;
		else if (slice->is_points)
			point_add(cells, bins, &piece);
		else
			bins_add(&sums, bins, 0, &piece);
	bins_sums_finish(&sums, bins, bins->count);
	free(sums.whole);
	return 0;
}
