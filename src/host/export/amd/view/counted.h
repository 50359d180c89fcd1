/*
 * Counted kernels: which of them were alone on their device, and the values of their counters.  The
 * values of the others are left out, and these kernels counted: their counts include all work at
 * the same time.
 */
#pragma once

#include "host/core/table.h"
#include "host/counters/amd/formulas.h"
#include "host/model/model.h"

struct counted_kernel;

struct counted {
	struct counted_kernel *kernels; /* in the order of model_each_call() */
	size_t count, room;
	struct table dispatches;            /* (process, dispatch): its kernel */
	struct counter_formulas **formulas; /* of each process, made when needed */
	uint32_t process_count;
	uint64_t alone, together, unfinished;
};

/* -ENOMEM. */
int counted_init(struct counted *ret, struct model *model) MUST_CHECK;
void counted_done(struct counted *counted);

/* All of them, with values and without. */
uint64_t counted_kernels(const struct counted *counted);

/* Are there counts of this kernel, and are they its own? */
bool counted_is_alone(const struct counted *counted, const struct call *kernel);

/* All requested counters, each with its values; a counter with invalid values has none.  Returns
 * the visitor's result, or -ENOMEM. */
typedef int counted_visitor(const struct recorded_counter *counter,
			    const struct counter_values *values, void *context);
int counted_each(struct counted *counted, const struct call *call, counted_visitor *visit,
		 void *context) MUST_CHECK;
