/*
 * Reads arguments of HIP calls that describe the commands they make; see launches.h.
 */
#pragma once

#include "target/hooks/hook.h"

struct slot_list;

/* Called first, with the names of HIP's own table. */
void launch_shapes_prepare(const struct slot_list *list);

/* What a successful call has destroyed. */
enum launch_end {
	ENDS_NOTHING,
	ENDS_STREAM, /* the stream in its first argument */
	ENDS_FUNCTIONS,
};
enum launch_end launch_ends(const struct hook_frame *frame);
