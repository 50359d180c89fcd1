/*
 * What the arguments of HIP's calls say about the commands that they make; see launches.h.
 */
#pragma once

#include "target/hooks/hook.h"

struct slot_list;

/* Before anything else, with the names of HIP's own table. */
void launch_shapes_prepare(const struct slot_list *list);

/* What a call that went well has ended, beside what it was for. */
enum launch_end {
	ENDS_NOTHING,
	ENDS_STREAM, /* its first argument */
	ENDS_FUNCTIONS,
};
enum launch_end launch_ends(const struct hook_frame *frame);
