/*
 * Samples in memory in the order of their ends, with an index and sums: a range costs as much as
 * its contents, not as all of them.  Those of an opened recording, and of calls.
 */
#pragma once

#include "host/live/store/slice.h"
#include "host/model/samples/call_tree.h"

#include <pthread.h>

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

/* Samples added up, block by block, and blocks of blocks: a long range is then a few lists of sums,
 * and not millions of samples.  Sums are whole numbers, so that subtracting a sample leaves exactly
 * the others.  Zero is none. */
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

static inline void sum_subtract(struct sum *sum, uint64_t weight_ns)
{
	sum->count--;
	sum->weight_ns -= weight_ns;
	sum->squares -= (unsigned __int128)weight_ns * weight_ns;
}

/* A recording is opened only if it needs less than this part of the available memory. */
#define STORE_MEMORY_PART 2u

struct store {
	struct model *model;
	/* Times are CLOCK_MONOTONIC as in the file; none began before its time 0. */
	struct recorded_sample *items;
	size_t count, room;
	uint64_t *block_begins; /* the least of each block of samples */
	uint64_t *least_begins; /* of each block and all later ones */
	size_t block_room;
	size_t noted;              /* samples whose order and blocks are known, from the first on */
	uint64_t latest_ns;        /* end of the last of them */
	bool is_unsorted;          /* they are not in the order of their ends */
	uint64_t begin_ns, end_ns; /* of the recording */
	uint64_t bytes_max;        /* limit of samples and sums; 0: none */
	bool is_full;              /* they would exceed it */
	/* Made on a thread of their own when the first picture has been drawn without them. */
	struct sums stacks, threads;
	pthread_t adding;
	bool is_read, is_adding, is_joined;
	_Atomic bool is_added;
	/* Of each thread: its number, or that of the same one that has samples. */
	uint32_t *sampled;
	bool is_points; /* a sample is a moment: its weight is no time */
	/* All stacks, without metrics: from the root, and from the innermost function. */
	struct call_tree trees[2];
};

/* Reads the recording.  It must not be moved afterwards. */
int store_open(struct store *ret, const char *path, struct err *err) MUST_CHECK;
void store_close(struct store *store);

/* Puts samples that are in it in order: a part of store_open(). */
int store_prepare(struct store *store) MUST_CHECK;

/* Those that can be in the range, from `*ret_first` on; returns their number. */
size_t store_find(const struct store *store, uint64_t from_ns, uint64_t to_ns, size_t *ret_first);

/* Begins to add up the samples of one that is read. */
void store_add_up(struct store *store);
/* True when the sums can be used: not before they are made. */
bool store_has_sums(const struct store *store);
/* Until they are, or cannot be. */
void store_wait(struct store *store);

/* Adds the samples of a slice, of all threads, to cells, of which there are as many as the sums
 * have for a kind; of a sample partly in it, that part counts. */
void store_add(const struct store *store, const struct sums *sums, const struct slice *slice,
	       struct sum *cells);

/* Cells of the two sums, without the kind. */
uint32_t store_stack_cell(const struct recorded_sample *sample);
uint32_t store_thread_cell(const struct recorded_sample *sample);

/* Places all stacks of a slice in a tree, without weights: adding those up takes ten times as long.
 * 0 or -ENOMEM. */
int store_grow_tree(struct call_tree *tree, const struct slice *all,
		    const struct call_tree_options *options) MUST_CHECK;
