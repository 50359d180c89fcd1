/*
 * Calls the tool once for each kernel, when its doorbell is rung: the packet is complete by then.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/dispatch/sets.h"
#include "target/amd/sinks/sdk/service.h"

/* Describes the call in which the thread reserves a slot for a kernel. */
struct launch_origin launch_origin_of(const struct call_frame *frame);

/* The application rings a queue's doorbell for packets up to `last`: calls the tool for those not
 * shown to it yet. True: limpet's packets are around the last one. False also for other signals. */
bool kernels_ask(struct call_frame *frame, uint64_t doorbell, uint64_t last);
