/*
 * Home's side of a fleet: starts the node parts of a plan, hears them until all have said what they
 * had to say, or the time is over, and ends them.
 */
#pragma once

#include "host/fleet/engine/engine.h"
#include "host/fleet/fleet.h"
#include "host/fleet/job/node_start.h"

struct fleet_job_listener {
	/* A message of a kind that the job does not know itself.  0 or -ENOMEM. */
	int (*message)(void *context, uint32_t node, uint32_t kind, struct cursor *cursor);
	/* Now and then, at least four times a second. */
	void (*looked)(void *context);
	void *context;
};

struct fleet_job_options {
	const struct fleet_plan *plan;
	struct node_request request; /* but for how ranks are found, which is the plan's */
	const char *limpet;          /* its path on the nodes; NULL: as here */
	bool is_copied;              /* copy it in any case */
	const char *version;         /* of this limpet */
	uint64_t limit_ns;           /* for all of it */
	uint64_t leave_ns;           /* for node parts to end after they were told to; 0: 3 s */
	uint64_t piece_max;          /* bytes of recordings, or of fleet top, that one node may
					send; 0: none */
	int signals;                 /* of interrupt_watch(); -1: none */
	struct fleet_job_listener listener;
};

/* Runs it to its end: *fleet, which is the caller's and zero, has what nodes told and is settled.
 * An error only where nothing could be begun, or for lack of memory. */
int fleet_job_run(const struct fleet_job_options *options, struct fleet *fleet,
		  struct err *err) MUST_CHECK;
