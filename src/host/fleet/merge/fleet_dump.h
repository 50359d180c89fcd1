/*
 * The stacks of all threads of all ranks, once or several times: what fleet dump shows.  And ranks
 * that cannot run, for reasons outside of the program: the others may be waiting for them.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/fleet/fleet.h"
#include "host/fleet/merge/call_paths.h"

/* One thread in one round. */
struct seen_thread {
	uint32_t node, tid;
	pid_t top, process;    /* of its rank; its own process */
	bool is_first;         /* the main thread of the rank's process */
	uint32_t round, flags; /* enum thread_flag */
	char state;
	uint32_t path; /* innermost call; PATH_NONE: no stack */
	uint64_t turns;
	uint32_t name, call, object; /* texts of the paths */
	uint32_t rank;               /* its number, after fleet_dump_settle() */
};

static inline bool thread_is_stopped(const struct seen_thread *thread)
{
	return thread->state == 'T' || thread->state == 't';
}

struct fleet_dump {
	struct call_paths paths;
	struct path_map *maps; /* by node */
	size_t map_count;
	struct seen_thread *threads; /* settled: by rank, round, process and tid */
	size_t count, room;
	uint32_t rounds;
};

/* A message of a node part; ignores kinds other than a dump's.  0 or -ENOMEM. */
int fleet_dump_take(struct fleet_dump *dump, uint32_t node, uint32_t kind,
		    struct cursor *cursor) MUST_CHECK;
/* After the fleet was settled: sets the ranks of threads, and drops threads of none. */
int fleet_dump_settle(struct fleet_dump *dump, const struct fleet *fleet) MUST_CHECK;
void fleet_dump_done(struct fleet_dump *dump);
DEFINE_STRUCT_CLEANUP(fleet_dump, fleet_dump_done)

/* The activity of a rank's main thread from the first round to the last.  One place: the program's
 * calls and their lines are the same each time, whatever the libraries below do. */
enum motion {
	MOTION_UNKNOWN, /* not in all rounds */
	MOTION_STOPPED, /* by a signal or a debugger, in the last round */
	MOTION_WAITED,  /* in one place, and it never ran */
	MOTION_WOKE,    /* waiting in one place each time, and it ran between */
	MOTION_SPUN,    /* in one place, and running when seen */
	MOTION_MOVED,   /* in different calls, or at different lines */
	MOTIONS,
};

const char *motion_name(enum motion motion);

/* Ranks by their motion. */
struct motions {
	struct rank_set ranks[MOTIONS];
};

int motions_find(struct motions *ret, const struct fleet_dump *dump) MUST_CHECK;
void motions_done(struct motions *motions);

enum halt {
	HALT_NONE,
	HALT_STOPPED, /* by a signal */
	HALT_TRACED,  /* by a debugger */
	HALT_FROZEN,  /* by its control group */
	HALT_ZOMBIE,  /* it has ended, and its parent has not reaped it */
	HALT_ENDED,   /* the process is gone */
	HALTS,
};

/* "stopped"; and "by a signal: kill -CONT PID continues it". */
const char *halt_name(enum halt halt);
const char *halt_cause(enum halt halt);

struct halted {
	enum halt halt;
	const struct fleet_rank *rank;
};

/* Zero is empty. */
struct halted_ranks {
	struct halted *items; /* by halt, node and rank */
	size_t count;
};

/* Those of the fleet that cannot run, in their latest state.  0 or -ENOMEM. */
int halts_find(struct halted_ranks *ret, const struct fleet_dump *dump,
	       const struct fleet *fleet) MUST_CHECK;
void halts_done(struct halted_ranks *ranks);
DEFINE_STRUCT_CLEANUP(halted_ranks, halts_done)
