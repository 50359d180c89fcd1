/*
 * The readers' copy of the live model, which follows it.  Only samples added since the last time
 * are copied while writers wait; adding up and printing run in parallel.
 */
#pragma once

#include "host/core/table.h"
#include "host/model/model.h"

#include <sys/types.h>

struct live;
struct live_kept;

/* Zero is one that has seen nothing. */
struct live_view {
	struct model *model; /* its processes are the live model's */
	unsigned generation; /* of the tables that it follows */
	uint64_t renames;    /* of threads, that it has seen */
	size_t thread_room;
	struct table threads;   /* (tid, 0): the number of the last thread that had it */
	struct live_kept *kept; /* the samples themselves are not copied */
	size_t kept_count;
	uint64_t late_ns;   /* the maximum delay of samples after later ones */
	uint64_t forgotten; /* samples dropped before those */
	size_t named_count; /* frames whose names were requested */
};

/* Each is for one reader at a time; the lock of the live model must not be held.  0 or -ENOMEM. */

/* Copies what was added since the last time. */
int live_view_follow(struct live *live) MUST_CHECK;
/* Resolves missing names, and those that runtimes have written since. */
int live_view_name(struct live *live) MUST_CHECK;
/* Both. */
int live_view_update(struct live *live) MUST_CHECK;

void live_view_done(struct live_view *view);
