/*
 * The ranks on this machine: numbers, processes, and their wrappers.
 */
#pragma once

#include "host/fleet/request.h"

#define THROUGH_MAX 128u

/* Why a listed rank is left out. */
enum rank_left_out {
	RANK_IS_TAKEN,      /* it is not left out */
	RANK_IS_GONE,       /* the launcher lists a process that has ended */
	RANK_IS_FOREIGN,    /* its user is not that of the launcher or the job */
	RANK_HAS_NO_NUMBER, /* --ranks selects by number, and no process has one */
};

struct found_rank {
	pid_t pid;       /* the process to profile */
	pid_t top;       /* the topmost process of the rank */
	uint32_t number; /* RANK_NONE: unknown */
	uint32_t size;   /* the number of ranks; 0: unknown */
	enum rank_left_out left_out;
	char name[32];
	char through[THROUGH_MAX]; /* wrappers from the top down to it: "timeout, bash"; "" */
};

/* Processes that have ended and that their parents have not reaped.  The kernel keeps only their
 * names: a rank that has died has no number any more. */
struct zombies {
	size_t count;
	pid_t first, parent; /* of the first */
	char name[32];
};

struct found_ranks {
	struct found_rank *items; /* by number, then by age */
	size_t count, room;
	const char *variable;   /* the variable with the numbers; "": none */
	bool is_live;           /* read from the memory of processes */
	size_t unnumbered;      /* processes without a number that --ranks left out */
	struct zombies zombies; /* of the requested name */
};

/* -ESRCH: there is none.  -EEXIST: a number occurs twice, so that these are several jobs; the error
 * names both.  `variable` points into the options. */
int ranks_find(struct found_ranks *ret, const struct find_options *options,
	       struct err *err) MUST_CHECK;
