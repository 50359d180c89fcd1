/*
 * The totals of the recordings of all ranks.  They are read one after the other, on as many threads
 * as there are processors: memory does not grow with their number.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/fleet/fleet.h"
#include "host/fleet/report/spreads.h"

enum spread_kind {
	SPREAD_RUNNING, /* samples on a processor */
	SPREAD_WAITING, /* and off it, if they were recorded */
	SPREAD_CALLS,   /* traced calls and work of devices */
	SPREAD_KINDS,
};

/* The totals of one rank. */
struct rank_totals {
	uint32_t rank;
	const char *node;   /* "?" */
	pid_t pid;          /* 0: not known */
	uint64_t begin_ns;  /* CLOCK_REALTIME */
	uint64_t length_ns; /* of its recording */
	uint64_t samples, calls;
	uint64_t running_ns, waiting_ns, runnable_ns;
	bool has_waits; /* off-CPU samples were recorded */
	uint32_t top;   /* its hottest function, in the spreads of top_kind; POOL_NONE */
	uint64_t top_ns;
	enum spread_kind top_kind;
	bool is_read;
	char trouble[160]; /* why it could not be read, or its problem; "" */
};

struct fleet_totals {
	struct rank_totals *ranks; /* by number */
	size_t rank_count;
	size_t read_count;
	struct spreads spreads[SPREAD_KINDS];
	uint64_t samples, calls;
	uint64_t begin_ns, end_ns; /* CLOCK_REALTIME: of the first, of the last */
};

/* Called with the progress; may be NULL.  Any thread. */
struct totals_watcher {
	void (*looked)(void *context, size_t done, size_t count);
	void *context;
};

/* The ranks of `fleet` that have a recording in the folder.  Unreadable ones get a trouble. */
int fleet_totals_read(struct fleet_totals *ret, const char *folder, const struct fleet *fleet,
		      const struct totals_watcher *watcher, struct err *err) MUST_CHECK;
void fleet_totals_done(struct fleet_totals *totals);
DEFINE_STRUCT_CLEANUP(fleet_totals, fleet_totals_done)
