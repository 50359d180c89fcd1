/*
 * Titles of lanes of devices, as people count them: "GPU 0 stream 7 of context 1", "GPU 0 copies to
 * the host of thread 4711".
 */
#pragma once

#include "host/export/trace/work_tracks.h"

/* The title of the lane of a piece of work, whose track has that number.  0 or -ENOMEM. */
int lane_title_work(struct work_tracks *tracks, const struct call *call, uint32_t track, char *ret,
		    size_t room) MUST_CHECK;
