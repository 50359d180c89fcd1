/*
 * The functions found on this node, as a tree of calls.  Each is sent home once, when it is first
 * found.
 */
#pragma once

#include "host/fleet/merge/call_paths.h"

/* Zero is empty. */
struct frame_list {
	struct call_paths paths;
	struct frames_draft untold;
};

struct frame_call {
	const char *function, *module, *file; /* "": not known */
	uint32_t line;                        /* 0: not known, or irrelevant */
	enum frame_kind kind;
};

/* The node of a call below another one (FRAME_ROOT: none).  0 or -ENOMEM. */
int frame_list_find(struct frame_list *frames, uint32_t parent, const struct frame_call *call,
		    uint32_t *ret) MUST_CHECK;
/* Writes what was not sent yet; false: there is nothing. */
bool frame_list_put(struct frame_list *frames, struct bytes *message);
void frame_list_done(struct frame_list *frames);
