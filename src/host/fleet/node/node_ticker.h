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

/* What one rank did in the window. */
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
	uint64_t mark_ns, mark_cpu_ns; /* since when own costs are counted; 0: not yet */
	uint64_t *seen;                /* samples of each rank, from the beginning */
	uint32_t *rank_of;             /* by the number of a process in the live model */
	size_t process_count;
	struct rank_time *times; /* by rank */
	struct recorded_sample *sorted;
	size_t sorted_room;
	struct spreads spreads;
	uint64_t from_ns, window_ns;
	bool is_second_told;           /* one at least, of which something was told */
	bool is_rate_kept;             /* another one could not be had, which was told */
	atomic_uint_least64_t busy_ns; /* since when it does something; 0: it waits */
	atomic_bool shall_stop;
	int wake; /* an eventfd */
};

static inline uint64_t own_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* What was added up, as a message for home: never larger than what home takes. */
void node_ticker_tell(struct node_ticker *ticker);
