/*
 * What readers see of the live model: a copy that follows it.  Only what came since the last time
 * is copied while samples have to wait; adding up and writing go on beside them.
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
	uint64_t late_ns;   /* so long after later ones some of them came, at most */
	uint64_t forgotten; /* samples that came before those */
	size_t named_count; /* frames that were asked for their names */
};

/* Each is for one reader at a time; the lock of the live model must not be held.  0 or -ENOMEM. */

/* Takes what has come since the last time. */
int live_view_follow(struct live *live) MUST_CHECK;
/* Finds the names that are missing, and those that runtimes have told since. */
int live_view_name(struct live *live) MUST_CHECK;
/* Both. */
int live_view_update(struct live *live) MUST_CHECK;

void live_view_done(struct live_view *view);
