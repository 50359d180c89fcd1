/*
 * The samples of an opened recording in memory, in the order of their ends, with an index and sums:
 * a range costs as much as its contents, not as the recording.
 */
#pragma once

#include "host/model/samples/samples.h"
#include "host/ui/store/sums.h"

#include <pthread.h>

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
	uint32_t
		*sampled; /* of each thread: its number, or that of the same one that has samples */
	bool is_points;   /* a sample is a moment: its weight is no time */
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

/* The part to add up, by sums of the store if that is less work. */
struct store_part {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	unsigned kinds;          /* KIND_BIT() */
};

/* Adds the samples of a part to cells, of which there are as many as the sums have for a kind; of a
 * sample partly in it, that part counts. */
void store_add(const struct store *store, const struct sums *sums, const struct store_part *part,
	       struct sum *cells);

/* Cells of the two sums, without the kind. */
uint32_t store_stack_cell(const struct recorded_sample *sample);
uint32_t store_thread_cell(const struct recorded_sample *sample);
