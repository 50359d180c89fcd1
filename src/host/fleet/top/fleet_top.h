/*
 * What all ranks of a job do now: the newest message of each node, and what they come to together.
 * Runs at home; memory is bounded by the number of nodes.
 */
#pragma once

#include "host/fleet/fleet.h"
#include "host/fleet/report/spreads.h"
#include "host/fleet/top/top_message.h"

/* What a node has told last. */
struct node_picture {
	struct bytes message; /* behind its kind; sound */
	uint64_t heard_ns;    /* 0: never */
};

/* Zero is empty. */
struct fleet_top {
	struct node_picture *nodes; /* by number */
	size_t count, room;
};

/* 0 or -ENOMEM.  What makes no sense is left out. */
int fleet_top_take(struct fleet_top *top, uint32_t node, uint32_t kind,
		   struct cursor *cursor) MUST_CHECK;
void fleet_top_done(struct fleet_top *top);

/* What one rank does, in nanoseconds a second. */
struct top_view_rank {
	size_t rank; /* of the fleet */
	uint64_t running_ns;
	const char *function;
};

/* All of it together, in nanoseconds a second: 10,000,000 are one percent of a processor. */
struct top_view {
	struct spreads functions;    /* sorted; ranks are those of the fleet, by their indexes */
	struct top_view_rank *ranks; /* those that run most first */
	size_t rank_count;
	uint64_t samples, lost, other_ns; /* lost: since each node began */
	uint64_t window_ns;               /* of the samples, where it is longest */
	bool *is_heard;                   /* by node: it has told something lately */
	size_t heard_count;               /* of those that have */
	uint32_t least_hz;
	double own_share;     /* of a processor, that limpet takes on the node where it is most */
	uint32_t costly_node; /* that one; NODE_NONE: nobody has told yet */
};

/* When a node has told something last; 0: none ever has. */
uint64_t fleet_top_heard_ns(const struct fleet_top *top);

int top_view_make(struct top_view *ret, const struct fleet_top *top,
		  const struct fleet *fleet) MUST_CHECK;
void top_view_done(struct top_view *view);

static inline void top_view_done_at_scope_end(struct top_view *view)
{
	top_view_done(view);
}
