/*
 * The present activity of all ranks of a job: the latest message of each node, and their total.
 * Runs at home; memory is bounded by the number of nodes.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/fleet/fleet.h"
#include "host/fleet/message.h"
#include "host/fleet/report/spreads.h"

/* The latest message of a node. */
struct node_picture {
	struct bytes message; /* after its kind; validated */
	uint64_t heard_ns;    /* 0: never */
};

/* Zero is empty. */
struct fleet_top {
	struct node_picture *nodes; /* by number */
	size_t count, room;
};

/* 0 or -ENOMEM.  Skips invalid messages. */
int fleet_top_take(struct fleet_top *top, uint32_t node, uint32_t kind,
		   struct cursor *cursor) MUST_CHECK;
void fleet_top_done(struct fleet_top *top);

/* The activity of one rank, in nanoseconds per second. */
struct top_view_rank {
	size_t rank; /* of the fleet */
	uint64_t running_ns;
	const char *function;
};

/* The total, in nanoseconds per second: 10,000,000 are one percent of a processor. */
struct top_view {
	struct spreads functions;    /* sorted; ranks are indexes in the fleet */
	struct top_view_rank *ranks; /* those that run most first */
	size_t rank_count;
	uint64_t samples, lost, other_ns; /* lost: since each node began */
	uint64_t window_ns;               /* of the samples, the longest one */
	bool *is_heard;                   /* by node: it has sent recently */
	size_t heard_count;               /* the number of those */
	uint32_t least_hz;
	double own_share;     /* of a processor, used by limpet on the node with the most */
	uint32_t costly_node; /* that node; NODE_NONE: not known yet */
};

/* When a node last sent something; 0: never. */
uint64_t fleet_top_heard_ns(const struct fleet_top *top);

int top_view_make(struct top_view *ret, const struct fleet_top *top,
		  const struct fleet *fleet) MUST_CHECK;
void top_view_done(struct top_view *view);

DEFINE_STRUCT_CLEANUP(top_view, top_view_done)
