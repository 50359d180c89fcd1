/*
 * The ranks that run on this machine: numbers, processes, and what they are wrapped in.
 */
#pragma once

#include "host/fleet/find/zombies.h"
#include "host/fleet/request.h"

#define THROUGH_MAX 128u

/* Why a rank that was named is not touched. */
enum rank_left_out {
	RANK_IS_TAKEN,      /* it is looked at */
	RANK_IS_GONE,       /* a launcher names a process that has ended */
	RANK_IS_FOREIGN,    /* it belongs to another user than the launcher or the job */
	RANK_HAS_NO_NUMBER, /* --ranks chooses by number, and no process has one */
};

struct found_rank {
	pid_t pid;       /* what is to be looked at */
	pid_t top;       /* the topmost process of the rank */
	uint32_t number; /* RANK_NONE: nothing tells */
	uint32_t size;   /* how many there are; 0: nothing tells */
	enum rank_left_out left_out;
	char name[32];
	char through[THROUGH_MAX]; /* wrappers from the top down to it: "timeout, bash"; "" */
};

struct found_ranks {
	struct found_rank *items; /* by number, then by age */
	size_t count, room;
	const char *variable;   /* that told the numbers; "": none did */
	bool is_live;           /* it was read from the memory of processes */
	size_t unnumbered;      /* processes without a number that --ranks left out */
	struct zombies zombies; /* of the name that was asked for */
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
