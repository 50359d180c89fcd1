/*
 * The tool is asked for each kernel, once, where its doorbell is rung: what is launched is known by
 * then.
 */
#pragma once

#include "target/sdk/counters/dispatch/sets.h"
#include "target/sdk/service.h"

/* The thread takes room for a kernel in this call. */
struct launch_origin launch_origin_of(const struct sdk_frame *frame);

/* The program rings for packets up to `last` of the queue, if it is one: asks for those that nobody
 * was asked for.  True: packets of ours are around the last. */
bool kernels_ask(struct sdk_frame *frame, uint64_t doorbell, uint64_t last);
