/*
 * The parts of a program that it has selected itself, by roctxProfilerResume and
 * roctxProfilerPause (--selected-regions): outside of them nothing is wanted.  And which range of
 * markers a thread was in at a time: for kernels, which run long after the call that launched them.
 */
#pragma once

#include "host/core/table.h"
#include "host/model/model.h"

struct region_options {
	bool is_selected;   /* else everything is wanted */
	bool is_counted;    /* each resume needs a pause of its own */
	bool hides_markers; /* they were recorded for this alone */
};

/* From then on. */
struct region_change {
	uint64_t time_ns;
	int change;    /* 1 resumes, -1 pauses */
	int64_t depth; /* wanted while it is above 0 */
};

struct regions {
	struct region_options options;
	struct process_regions {
		struct region_change *changes; /* by time */
		size_t count, room;
	} * processes;
	uint32_t process_count;
};

int regions_init(struct regions *ret, const struct model *model,
		 const struct region_options *options) MUST_CHECK;
void regions_done(struct regions *regions);

/* Ignores calls other than the two.  Calls must be in the order of their beginnings. */
int regions_add(struct regions *regions, const struct call *call) MUST_CHECK;

/* Whether a call is wanted: by its beginning; work of a device by that of the call that caused it,
 * where that is known. */
bool regions_want(const struct regions *regions, const struct call *call);

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
