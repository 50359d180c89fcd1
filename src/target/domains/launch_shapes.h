/*
 * What the arguments of HIP's calls say about the commands that they make; see launches.h.
 */
#pragma once

#include "target/hooks/hook.h"

/* Once, before anything else. */
void launch_shapes_prepare(void);

/* Is it the call that ends a stream, its first argument? */
bool launch_destroys_stream(const struct hook_frame *frame);
