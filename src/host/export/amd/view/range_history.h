/*
 * Which range of markers a thread was in at a time: for kernels, which run long after the call that
 * launched them.
 */
#pragma once

#include "host/core/table.h"
#include "host/model/model.h"

struct past_range {
	uint64_t begin_ns, end_ns;
	size_t outer; /* index and one of the range around it, 0: none */
	char *text;
};

struct range_history {
	struct thread_ranges {
		struct past_range *items; /* by begin */
		size_t count, room;
	} * threads;
	uint32_t thread_count;
	struct table by_tid; /* (process, tid): number of the thread and one */
};

int range_history_init(struct range_history *ret, const struct model *model) MUST_CHECK;
void range_history_done(struct range_history *history);

/* Ignores calls other than ranges of threads.  Calls must be in the order of their beginnings. */
int range_history_add(struct range_history *history, const struct call *call) MUST_CHECK;

/* The innermost range's text; "" when there was none. */
const char *range_history_find(const struct range_history *history,
			       const struct model_process *process, uint64_t tid, uint64_t time_ns);
