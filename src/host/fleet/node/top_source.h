/*
 * One sampler for all ranks of a node.  Ranks that cannot be sampled are reported, and left out.
 */
#pragma once

#include "host/fleet/node/node_private.h"
#include "host/live/live.h"
#include "host/live/source.h"

/* Of a rank that was tried alone. */
struct rank_trial {
	bool sees_stacks;
	char reason[320]; /* why not */
};

struct top_source {
	struct node *node;
	bool *is_sampled;          /* by rank */
	uint64_t *start_ticks;     /* by rank: of its process */
	struct rank_trial *trials; /* by rank */
	size_t sampled_count;
	struct live *live;
	struct source *source;
	unsigned hz;
	uint64_t lost_before; /* by samplers that were closed */
	struct err err;       /* why there is none */
};

/* For all ranks that can be sampled; reports the others.  False if none is left. */
bool top_source_open(struct top_source *ret, struct node *node);
/* The same ranks at another rate, with no less detail.  0 or an error: then nothing has changed. */
int top_source_set_rate(struct top_source *source, unsigned hz, struct err *err) MUST_CHECK;
/* Reports ranks that have ended since the last time. */
void top_source_look(struct top_source *source);
