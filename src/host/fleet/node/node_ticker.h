/*
 * What the files of fleet top on a node share.
 */
#pragma once

#include "host/core/clock.h"
#include "host/core/table.h"
#include "host/fleet/node/top_source.h"
#include "host/fleet/report/spreads.h"
#include "host/fleet/top/top_message.h"

#include <stdatomic.h>

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
