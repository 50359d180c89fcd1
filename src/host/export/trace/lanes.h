/*
 * The lanes in which calls are drawn: in one lane calls are nested or consecutive.  Lanes belong to
 * the threads, for process-wide ranges to the processes, and for work of devices to tracks of their
 * own.
 */
#pragma once

#include "host/model/model.h"

/* Called at the end of each call, in the order of one lane. */
typedef int lane_ender(void *context, uint32_t owner, uint32_t lane, uint64_t end_ns);

/* The ends of the calls that are open, innermost last. */
struct lane {
	uint64_t *ends_ns;
	size_t count, room;
};

struct lanes {
	struct owner_lanes {
		struct lane *lanes;
		uint32_t count;
	} * owners;
	uint32_t owner_count, thread_count;
	uint32_t fixed_count; /* owners that are no tracks of devices */
	lane_ender *end;
	void *context;
};

/* `end` may be NULL: then the caller gets no call when a lane ends. */
int lanes_init(struct lanes *ret, const struct model *model, lane_ender *end,
	       void *context) MUST_CHECK;

/* The owner of a call's lane: the number of a thread, or, from lanes->thread_count on, of a
 * process. */
uint32_t lanes_owner(const struct lanes *lanes, const struct call *call);

/* The owner that stands for a track of devices. */
uint32_t lanes_track_owner(const struct lanes *lanes, uint32_t track);

/* The lane for a call of this owner; calls must be in the order of their beginnings. */
int lanes_assign(struct lanes *lanes, uint32_t owner, const struct call *call, uint32_t *ret_lane,
		 bool *ret_is_new) MUST_CHECK;

/* For calls without a length: ends finished calls in the first lane. */
int lanes_pass(struct lanes *lanes, const struct call *call) MUST_CHECK;

/* Ends the open calls. */
int lanes_finish(struct lanes *lanes) MUST_CHECK;
void lanes_done(struct lanes *lanes);
