/*
 * A queue of ours on a device, by which its counters are started, read and stopped; no queue of the
 * program's is touched.
 */
#pragma once

#include "target/sdk/counters/packets.h"

enum device_step { STEP_NONE, STEP_START, STEP_READ, STEP_STOP };

struct device_queue {
	const struct hsa_queue *queue; /* NULL: there is none */
	uint64_t signal;
	uint32_t under_way; /* enum device_step */
	uint32_t is_broken; /* the runtime says so: nothing is done in it any more */
	struct hsa_functions hsa;
	struct counter_config config; /* a copy: the tool may destroy its own */
	struct counter_packets packets;
};

/* All with the runtime there, between hsa_gate_enter() and hsa_gate_leave().  A status; on failure
 * nothing is left.  Its address must not change. */
int device_queue_open(struct device_queue *ret, const struct counter_config *config);
/* True when the device has done it within that time.  A step that is late is waited for by the
 * next one. */
bool device_queue_step(struct device_queue *self, enum device_step step, uint64_t limit_ns);
/* Gives everything back; false: the device has not done what was put, and all stays. */
bool device_queue_close(struct device_queue *self, uint64_t limit_ns);
