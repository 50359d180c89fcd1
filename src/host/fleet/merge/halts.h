/*
 * Ranks that cannot run, for reasons outside of the program: the others may be waiting for them.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/fleet/merge/fleet_dump.h"

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
