/*
 * The parts of a program that it has selected itself, by roctxProfilerResume and
 * roctxProfilerPause (--selected-regions): outside of them nothing is wanted.
 */
#pragma once

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
