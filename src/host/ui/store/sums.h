/*
 * Samples added up, block by block, and blocks of blocks: a long range is then a few lists of sums,
 * and not millions of samples.  Sums are whole numbers, so that subtracting a sample leaves exactly
 * the others.
 */
#pragma once

#include "host/model/samples/samples.h"

#define SUMS_BLOCK  (1u << 19) /* samples in the smallest block */
#define SUMS_FACTOR 4u         /* blocks in the next larger one */
#define SUMS_LEVELS 8u

struct sum {
	uint32_t cell, count;
	uint64_t weight_ns;
	unsigned __int128 squares; /* of the weights */
};

/* Which of the cells of its kind a sample is added to. */
typedef uint32_t sums_cell(const struct recorded_sample *sample);

struct sums_block {
	struct sum *items; /* by kind, then by cell; only cells with samples */
	size_t ends[SAMPLE_KINDS];
};

/* Zero is none. */
struct sums {
	sums_cell *cell_of;
	size_t cells; /* of a kind */
	struct sums_block *levels[SUMS_LEVELS];
	size_t counts[SUMS_LEVELS];
};

/* 0 or -ENOMEM.  Only whole blocks have sums. */
int sums_build(struct sums *ret, sums_cell *cell_of, size_t cells,
	       const struct recorded_sample *items, size_t count) MUST_CHECK;
void sums_done(struct sums *sums);

/* Adds samples [first, end) of these kinds, all of them and whole. */
void sums_add(const struct sums *sums, const struct recorded_sample *items, size_t first,
	      size_t end, unsigned kinds, struct sum *cells);

static inline void sum_add(struct sum *sum, uint64_t weight_ns)
{
	sum->count++;
	sum->weight_ns += weight_ns;
	sum->squares += (unsigned __int128)weight_ns * weight_ns;
}

static inline void sum_take(struct sum *sum, uint64_t weight_ns)
{
	sum->count--;
	sum->weight_ns -= weight_ns;
	sum->squares -= (unsigned __int128)weight_ns * weight_ns;
}
