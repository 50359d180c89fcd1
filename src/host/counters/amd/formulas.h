/*
 * Turns counts into the requested counters: the counters of a recording, each with its formula of
 * events, parsed once.
 */
#pragma once

#include "host/counters/amd/plan.h"
#include "host/recording/facts.h"

#define FORMULAS_MAX 64u

struct counter_formulas {
	const struct recorded_counter *facts; /* events first */
	uint32_t event_count, count;          /* count: of the others */
	struct expression *items[FORMULAS_MAX];
	bool is_tried[FORMULAS_MAX];
};

/* The facts must live as long. */
void counter_formulas_init(struct counter_formulas *ret, const struct recorded_counter *facts,
			   uint32_t fact_count);
void counter_formulas_done(struct counter_formulas *formulas);

static inline const struct recorded_counter *
counter_formula_fact(const struct counter_formulas *formulas, uint32_t index)
{
	return &formulas->facts[formulas->event_count + index];
}

/* The counts of one kernel, or of one window. */
struct event_counts {
	const struct record_count *items;
	size_t count;
	const char *properties; /* of the device (plan.h); NULL: not known */
};

/* The value of counter `index`; the caller frees it.  -ENOENT, -EINVAL: the counts do not fit
 * it. */
int counter_formula_values(struct counter_formulas *formulas, uint32_t index,
			   const struct event_counts *counts,
			   struct counter_values *ret) MUST_CHECK;

/* Do its values of two windows add up to that of both?  Those of quotients do not. */
bool counter_formula_adds_up(struct counter_formulas *formulas, uint32_t index);
