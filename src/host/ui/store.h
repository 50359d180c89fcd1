/*
 * The samples of an opened recording in memory, in the order of their ends, with an index: a range
 * costs what it holds, not what was recorded.
 */
#pragma once

#include "host/model/samples.h"

struct store {
	struct model *model;
	struct recorded_sample *items; /* times are CLOCK_MONOTONIC as in the file */
	size_t count, room;
	uint64_t *least_begins;    /* of each block of samples and all later ones */
	uint64_t begin_ns, end_ns; /* of the recording */
};

/* Takes the model, also where it fails.  0 or -ENOMEM. */
int store_open(struct store *ret, struct model *model) MUST_CHECK;
void store_close(struct store *store);

/* Those that can lie in the range, from `*ret_first` on; how many. */
size_t store_find(const struct store *store, uint64_t from_ns, uint64_t to_ns, size_t *ret_first);
