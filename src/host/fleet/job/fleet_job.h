/*
 * Home's side of a fleet: starts the node parts of a plan, reads their messages until all have
 * ended, or the time is over, and ends them.
 */
#pragma once

#include "host/fleet/engine/engine.h"
#include "host/fleet/fleet.h"
#include "host/fleet/job/node_start.h"

struct fleet_job_listener {
	/* A message of a kind that the job does not handle itself.  0 or -ENOMEM. */
	int (*message)(void *context, uint32_t node, uint32_t kind, struct cursor *cursor);
	/* Called at least four times a second. */
	void (*looked)(void *context);
	void *context;
};

struct fleet_job_options {
	const struct fleet_plan *plan;
	struct node_request request; /* except how ranks are found, which is in the plan */
	const char *limpet;          /* its path on the nodes; NULL: as here */
	bool is_copied;              /* always copy it */
	const char *version;         /* of this limpet */
	uint64_t limit_ns;           /* for the whole job */
	uint64_t leave_ns;           /* for node parts to end after the request; 0: 3 s */
	uint64_t piece_max;          /* bytes of recordings or of fleet top, per node; 0: none */
	int signals;                 /* of interrupt_watch(); -1: none */
	struct fleet_job_listener listener;
};

/* Runs it to its end: *fleet, owned by the caller and zero before, has the nodes' results and is
 * settled.  Fails only if nothing could be started, or for lack of memory. */
int fleet_job_run(const struct fleet_job_options *options, struct fleet *fleet,
		  struct err *err) MUST_CHECK;
