/*
 * Reads arguments of HIP calls that describe the commands they make; see launches.h.
 */
#pragma once

#include "target/amd/tables/call.h"

/* Called first. */
void launch_shapes_prepare(void);

/* What a successful call has destroyed. */
enum launch_end {
	ENDS_NOTHING,
	ENDS_STREAM, /* the stream in its first argument */
	ENDS_FUNCTIONS,
};
enum launch_end launch_ends(const struct call_frame *frame);
