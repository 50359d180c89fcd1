/*
 * The ranks that run on this machine: numbers, processes, and what they are wrapped in.
 */
#pragma once

#include "host/fleet/request.h"

#define THROUGH_MAX 128u

struct found_rank {
	pid_t pid;       /* what is to be looked at */
	pid_t top;       /* the topmost process of the rank */
	uint32_t number; /* RANK_NONE: nothing tells */
	uint32_t size;   /* how many there are; 0: nothing tells */
	bool is_gone;    /* it was to be there, and is not */
	char name[32];
	char through[THROUGH_MAX]; /* wrappers from the top down to it: "timeout, bash"; "" */
};

struct found_ranks {
	struct found_rank *items; /* by number, then by age */
	size_t count, room;
	const char *variable; /* that told the numbers; "": none did */
	bool is_live;         /* it was read from the memory of processes */
};

/* -ESRCH: there is none.  -EEXIST: one number is there twice, so that these are several jobs; the
 * error names both.  `variable` lies in the options. */
int ranks_find(struct found_ranks *ret, const struct find_options *options,
	       struct err *err) MUST_CHECK;
void ranks_done(struct found_ranks *ranks);

static inline void ranks_done_at_scope_end(struct found_ranks *ranks)
{
	ranks_done(ranks);
}
