/*
 * Time by function and by thread.  Ranges and marks are no calls: see markers.h.
 */
#pragma once

#include "host/model/model.h"
#include "host/model/statistics.h"

struct function_row {
	const struct trace_function *function;
	struct statistics statistics;
	bool has_bytes;
	uint64_t bytes; /* allocated, or moved */
};

struct thread_row {
	const struct model_thread *thread;
	struct statistics statistics;
};

/* A function that several processes have is one row. */
struct summary {
	struct function_row *functions;
	uint32_t function_count;
	uint32_t *row_of; /* by number of the function */
	struct thread_row *threads;
	uint32_t thread_count;
	struct statistics domains[DOMAIN_NUMBERS];
	uint64_t first_ns, last_ns; /* the beginning of the first call, the end of the last */
};

int summary_init(struct summary *ret, const struct model *model) MUST_CHECK;
void summary_add(struct summary *summary, const struct call *call);
/* By domain, then by total time; drops rows of functions without calls, and of threads with samples
 * only. */
void summary_sort(struct summary *summary);
/* Of all calls. */
uint64_t summary_total_ns(const struct summary *summary);
void summary_done(struct summary *summary);
