/*
 * The samples of a part of a session, from which every view is added up.  A sample
 * stands for the time from its end less its weight to its end; of one partly in the range, that
 * part counts.
 */
#pragma once

#include "host/model/samples/profile.h"

struct call_tree;
struct store;

struct slice {
	struct model *model;
	const struct recorded_sample *items; /* nearly in the order of their ends */
	size_t count;
	uint64_t origin_ns;        /* CLOCK_MONOTONIC of the session's time 0 */
	uint64_t from_ns, to_ns;   /* CLOCK_MONOTONIC */
	const bool *is_wanted;     /* by number of the thread; NULL: all */
	unsigned kinds;            /* KIND_BIT() */
	uint64_t end_ns;           /* of the session's newest data, CLOCK_MONOTONIC */
	const struct store *store; /* that has sums of them; NULL */
	struct call_tree *trees;   /* of all stacks of the session: see struct store */
	bool is_points;            /* a sample is a moment: its weight is no time */
};

/* A sample's part of the slice. */
struct piece {
	uint64_t begin_ns, end_ns, weight;
};

static inline bool slice_piece(const struct slice *slice, const struct recorded_sample *sample,
			       struct piece *ret)
{
	bool is_moment = slice->is_points || !sample->weight_ns;
	uint64_t length_ns = is_moment ? 0 : MIN(sample->time_ns, sample->weight_ns);

	if (!(slice->kinds & KIND_BIT(sample->kind)) ||
	    (slice->is_wanted && !slice->is_wanted[sample->thread]))
		return false;
	ret->begin_ns = MAX(sample->time_ns - length_ns, slice->from_ns);
	ret->end_ns = MIN(sample->time_ns, slice->to_ns);
	ret->weight = is_moment ? sample->weight_ns : ret->end_ns - MIN(ret->end_ns, ret->begin_ns);
	return is_moment ? sample->time_ns >= slice->from_ns && sample->time_ns < slice->to_ns
			 : ret->begin_ns < ret->end_ns;
}

/* As sample_profile_gather(), but for the order of entries.  0 or -ENOMEM. */
int slice_gather(const struct slice *slice, bool is_by_thread, struct profile *ret) MUST_CHECK;

/* Of each thread of the model. */
int slice_threads(const struct slice *slice, struct thread_profile **ret) MUST_CHECK;
