/*
 * fleet top on a node: one sampler for all of its ranks, and what is added up of it each second.
 * Ranks that cannot be sampled are reported, and left out.
 */
#pragma once

#include "host/core/clock.h"
#include "host/core/table.h"
#include "host/fleet/message.h"
#include "host/fleet/node/node_private.h"
#include "host/fleet/report/spreads.h"
#include "host/live/live.h"
#include "host/live/source.h"

#include <stdatomic.h>

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

/* The activity of one rank in the window. */
struct rank_time {
	uint64_t running_ns, samples;
	size_t first, count; /* of the samples, sorted by ranks */
	char function[128];
	uint64_t function_ns;
};

struct node_ticker {
	struct top_source source;
	struct table by_pid; /* of ranks: their indexes */
	uint64_t begin_ns, until_ns;
	uint64_t opened_ns;            /* the sampler, last */
	uint64_t mark_ns, mark_cpu_ns; /* since when limpet's own costs are counted; 0: not yet */
	uint64_t *seen;                /* samples of each rank, from the beginning */
	uint32_t *rank_of;             /* by the number of a process in the live model */
	size_t process_count;
	struct rank_time *times; /* by rank */
	struct recorded_sample *sorted;
	size_t sorted_room;
	struct spreads spreads;
	uint64_t from_ns, window_ns;
	bool is_second_told;           /* at least one second was sent */
	bool is_rate_kept;             /* another rate was not possible, which was noted */
	atomic_uint_least64_t busy_ns; /* when its work began; 0: it waits */
	atomic_bool shall_stop;
	int wake; /* an eventfd */
};

static inline uint64_t own_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Sends the totals as a message: never larger than home accepts. */
void node_ticker_tell(struct node_ticker *ticker);
