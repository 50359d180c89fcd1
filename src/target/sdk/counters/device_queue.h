/*
 * A queue of ours on a device, by which its counters are started, read and stopped; no queue of the
 * program's is touched.
 *
 * The runtime that has it may be shut down by the program at any time, and takes everything with
 * it.  So a queue is touched between hsa_gate_enter() and hsa_gate_leave() only, for moments, and
 * only while hsa_shut_down() leads to us, first of all; nobody holds the gate while a device is
 * waited for. Before the program's hsa_shut_down() all of them are ended on its thread, since
 * whether that call is the last one cannot be told; what a device does not end in time the runtime
 * takes away, and nobody touches it afterwards.  A forked child has none.
 */
#pragma once

#include "target/sdk/counters/packets.h"

enum device_step { STEP_NONE, STEP_START, STEP_READ, STEP_STOP };

/* What came of it. */
enum device_answer {
	DEVICE_DONE,
	DEVICE_LATE,   /* not yet: the device may still do it */
	DEVICE_GONE,   /* its runtime was shut down, or we are a forked child */
	DEVICE_BROKEN, /* the runtime says so: nothing is done in it any more */
};

struct device_queue {
	const struct hsa_queue *queue; /* NULL: there is none any more */
	uint64_t signal;
	uint32_t under_way;  /* enum device_step */
	uint32_t is_started; /* that packet was put */
	uint32_t is_broken;
	uint32_t puts;      /* of our stubs, when it was opened, see intercept.h */
	uint32_t is_unseen; /* the program's hsa_shut_down() led past us: never touched again */
	uint32_t is_held;   /* see device_queues_hold() */
	uint32_t is_whole;  /* what was read last */
	struct hsa_functions hsa;
	struct counter_config config; /* a copy: the tool may destroy its own */
	struct counter_packets packets;
};

/* A status; on failure nothing is left.  HSA_NOT_LOADED: it may be opened later; NO_PROFILE_QUEUE:
 * also where hsa_shut_down() does not lead to us.  Its address must
 * not change until it is closed. */
int device_queue_open(struct device_queue *ret, const struct counter_config *config);
/* Within that time.  A step that is late is waited for by the next one. */
enum device_answer device_queue_step(struct device_queue *self, enum device_step step,
				     uint64_t limit_ns);
/* False: its runtime has ended. */
bool device_queue_is_there(const struct device_queue *self);
/* Stops what was started, and gives everything back.  DEVICE_LATE: the device or the runtime may
 * still use it, all of it stays; else nothing is left of it but its memory. */
enum device_answer device_queue_close(struct device_queue *self, uint64_t limit_ns);

/* Is there one, so that hsa_init() and hsa_shut_down() must lead to us, whatever tools want? */
bool device_queues_hold(void);
/* On the program's thread that is about to shut the runtime down, with the gate shut. */
void device_queues_end(void);
/* The runtime is gone. */
void device_queues_forget(void);
/* In a forked child. */
void device_queues_adopt(void);
