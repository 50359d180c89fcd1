/*
 * Builds and uses sums of blocks.
 */
#include "host/live/store/store.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <stdlib.h>

/* Samples in a block of that level. */
static size_t block_size(unsigned level)
{
	size_t size = SUMS_BLOCK;

	while (level--)
		size *= SUMS_FACTOR;
	return size;
}

static void samples_add(const struct sums *self, const struct recorded_sample *items, size_t count,
			unsigned kinds, struct sum *cells)
{
	for (size_t i = 0; i < count; i++)
		if (kinds & KIND_BIT(items[i].kind))
			sum_add(&cells[self->cell_of(&items[i])], items[i].weight_ns);
}

static void block_add(const struct sums_block *block, unsigned kind, struct sum *cells)
{
	for (size_t i = kind ? block->ends[kind - 1] : 0; i < block->ends[kind]; i++) {
		const struct sum *item = &block->items[i];
		struct sum *cell = &cells[item->cell];

		cell->count += item->count;
		cell->weight_ns += item->weight_ns;
		cell->squares += item->squares;
	}
}

static size_t cells_used(const struct sum *cells, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += cells[i].count != 0;
	return used;
}

/* Moves the cells of one kind to the block; they are empty again afterwards. */
static int block_store(struct sums_block *block, unsigned kind, struct sum *cells, size_t count)
{
	size_t at = kind ? block->ends[kind - 1] : 0;
	struct sum *longer =
		reallocarray(block->items, at + cells_used(cells, count) + 1, sizeof(*longer));

	if (!longer)
		return -ENOMEM;
	block->items = longer;
	for (size_t i = 0; i < count; i++) {
		if (!cells[i].count)
			continue;
		block->items[at] = cells[i];
		block->items[at++].cell = (uint32_t)i;
		cells[i] = (struct sum){ 0 };
	}
	block->ends[kind] = at;
	return 0;
}

/* A block of the smallest size from its samples, into cells of all kinds; the kinds it has. */
static unsigned samples_gather(const struct sums *self, const struct recorded_sample *items,
			       struct sum *cells)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < SUMS_BLOCK; i++) {
		size_t cell = items[i].kind * self->cells + self->cell_of(&items[i]);

		sum_add(&cells[cell], items[i].weight_ns);
		kinds |= KIND_BIT(items[i].kind);
	}
	return kinds;
}

/* Makes a larger block from the smaller ones in it. */
static unsigned blocks_gather(const struct sums *self, const struct sums_block *blocks,
			      struct sum *cells)
{
	for (size_t i = 0; i < SUMS_FACTOR; i++)
		for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
			block_add(&blocks[i], kind, cells + kind * self->cells);
	return KINDS_ALL;
}

static int level_build(struct sums *self, unsigned level, const struct recorded_sample *items,
		       struct sum *cells)
{
	size_t count = self->counts[level];
	int r = 0;

	self->levels[level] = calloc(count + 1, sizeof(*self->levels[level]));
	if (!self->levels[level])
		return -ENOMEM;
	for (size_t i = 0; !r && i < count; i++) {
		unsigned kinds =
			level ? blocks_gather(self, &self->levels[level - 1][i * SUMS_FACTOR],
					      cells)
			      : samples_gather(self, items + i * SUMS_BLOCK, cells);

		for (unsigned kind = 0; !r && kind < SAMPLE_KINDS; kind++)
			r = block_store(&self->levels[level][i], kind, cells + kind * self->cells,
					kinds & KIND_BIT(kind) ? self->cells : 0);
	}
	return r;
}

int sums_build(struct sums *ret, sums_cell *cell_of, size_t cell_count,
	       const struct recorded_sample *items, size_t count)
{
	CLEANUP(free) struct sum *cells = NULL;
	int r = 0;

	*ret = (struct sums){ .cell_of = cell_of, .cells = cell_count };
	if (count < SUMS_BLOCK || cell_count > UINT32_MAX)
		return 0;
	cells = calloc(cell_count, SAMPLE_KINDS * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	for (unsigned level = 0; !r && level < SUMS_LEVELS; level++) {
		ret->counts[level] = count / block_size(level);
		if (ret->counts[level])
			r = level_build(ret, level, items, cells);
	}
	if (r)
		sums_done(ret);
	return r;
}

void sums_done(struct sums *sums)
{
	for (unsigned level = 0; level < SUMS_LEVELS; level++) {
		for (size_t i = 0; sums->levels[level] && i < sums->counts[level]; i++)
			free(sums->levels[level][i].items);
		free(sums->levels[level]);
	}
	*sums = (struct sums){ 0 };
}

/* The largest block that begins at `first` and ends at `end` or before; -1: none does. */
static int level_at(const struct sums *self, size_t first, size_t end)
{
	int level = -1;

	while (level + 1 < (int)SUMS_LEVELS && first % block_size((unsigned)level + 1) == 0 &&
	       first / block_size((unsigned)level + 1) < self->counts[level + 1] &&
	       end - first >= block_size((unsigned)level + 1))
		level++;
	return level;
}

void sums_add(const struct sums *self, const struct recorded_sample *items, size_t first,
	      size_t end, unsigned kinds, struct sum *cells)
{
	while (first < end) {
		int level = level_at(self, first, end);
		size_t size = MIN(end - first, SUMS_BLOCK - first % SUMS_BLOCK);

		if (level < 0) {
			samples_add(self, items + first, size, kinds, cells);
		} else {
			size = block_size((unsigned)level);
			for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
				if (kinds & KIND_BIT(kind))
					block_add(&self->levels[level][first / size], kind, cells);
		}
		first += size;
	}
}
