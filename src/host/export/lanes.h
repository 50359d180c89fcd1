/*
 * Where calls of a thread are drawn: in one lane each lies inside the one before or behind it.
 */
#pragma once

#include "host/model/model.h"

/* Told at the end of each call, in the order of one lane. */
typedef int lane_ender(void *context, uint32_t thread, uint32_t lane, uint64_t end_ns);

/* The ends of the calls that are open, innermost last. */
struct lane {
	uint64_t *ends_ns;
	size_t count, room;
};

struct lanes {
	struct thread_lanes {
		struct lane *lanes;
		uint32_t count;
	} * threads;
	uint32_t thread_count;
	lane_ender *end;
	void *context;
};

int lanes_init(struct lanes *ret, uint32_t thread_count, lane_ender *end, void *context) MUST_CHECK;

/* The lane for a call; calls come in the order of their beginnings. */
int lanes_place(struct lanes *lanes, const struct call *call, uint32_t *ret_lane,
		bool *ret_is_new) MUST_CHECK;

/* Ends what is open. */
int lanes_finish(struct lanes *lanes) MUST_CHECK;
void lanes_done(struct lanes *lanes);
