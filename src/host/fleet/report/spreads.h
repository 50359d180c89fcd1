/*
 * How a time is spread over ranks: for each function its mean, its least and its most, and which
 * rank has that.
 */
#pragma once

#include "host/core/pool.h"
#include "host/core/table.h"

#define SPREADS_MAX (1u << 19) /* functions told apart; what comes later is one */

struct spread {
	uint32_t name, module; /* texts of the spreads */
	uint32_t ranks;        /* that have any */
	uint32_t most_rank, least_rank;
	uint64_t sum_ns, most_ns, least_ns; /* in the function itself; least: of those ranks */
	uint64_t total_ns;                  /* with what it called */
	uint64_t count;                     /* samples, or calls */
};

/* Zero is empty. */
struct spreads {
	struct pool texts;
	struct table by_name;
	struct spread *items;
	size_t count, room;
	uint64_t left_out; /* functions that found no room: in "[other functions]" */
};

/* What one rank has of a function; each function comes once for each rank.  0 or -ENOMEM. */
struct spread_part {
	const char *name, *module;
	uint32_t rank;
	uint64_t self_ns, total_ns, count;
};

int spreads_add(struct spreads *spreads, const struct spread_part *part) MUST_CHECK;
/* What other ranks have of it, added up already; its texts are these.  0 or -ENOMEM. */
int spreads_merge(struct spreads *spreads, const char *name, const char *module,
		  const struct spread *part) MUST_CHECK;
/* The largest sums first. */
void spreads_sort(struct spreads *spreads);
void spreads_done(struct spreads *spreads);

/* The mean over so many ranks, also those that have none of it. */
static inline uint64_t spread_mean(const struct spread *spread, uint64_t ranks)
{
	return ranks ? spread->sum_ns / ranks : 0;
}

/* How much more than the mean the most loaded rank has, in hundredths of a percent. */
uint64_t imbalance_of(uint64_t most, uint64_t mean);
