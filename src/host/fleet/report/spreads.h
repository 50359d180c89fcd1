/*
 * The distribution of a time over ranks: for each function its mean, minimum and maximum, and the
 * rank of each.
 */
#pragma once

#include "host/core/pool.h"
#include "host/core/table.h"

#define SPREADS_MAX (1u << 19) /* distinct functions; later ones share an entry */

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
	uint32_t module;   /* of the last query: functions of one come together */
	uint64_t left_out; /* functions without room: in "[other functions]" */
};

/* The part of one rank in a function; each function occurs once for each rank.  0 or -ENOMEM. */
struct spread_part {
	const char *name, *module;
	uint32_t rank;
	uint64_t self_ns, total_ns, count;
};

int spreads_add(struct spreads *spreads, const struct spread_part *part) MUST_CHECK;
/* Adds what other ranks have of it, totalled already; its texts are these.  0 or -ENOMEM. */
int spreads_merge(struct spreads *spreads, const char *name, const char *module,
		  const struct spread *part) MUST_CHECK;
/* The largest sums first. */
void spreads_sort(struct spreads *spreads);
void spreads_done(struct spreads *spreads);

/* The mean over this many ranks, including those without it. */
static inline uint64_t spread_mean(const struct spread *spread, uint64_t ranks)
{
	return ranks ? spread->sum_ns / ranks : 0;
}

/* By how much the maximum exceeds the mean, in hundredths of a percent. */
uint64_t imbalance_of(uint64_t most, uint64_t mean);
