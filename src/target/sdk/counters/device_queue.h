/*
 * A queue of ours on a device, by which its counters are started, read and stopped; no queue of the
 * program's is touched.
 *
 * The runtime that has it may be shut down by the program at any time, and takes everything with
 * it.  So a queue is touched by whose turn it is (device_turn.h), between hsa_gate_enter() and
 * hsa_gate_leave(), for moments, and only while hsa_shut_down() leads to us, first of all.  Nobody
 * is inside the gate while a device is waited for.  Before the program's hsa_shut_down() all of
 * them are ended on its thread, in its turn, since whether that call is the last one cannot be
 * told; what is not ended in time the runtime takes away.  Its end is a number: whoever comes later
 * sees that his queue is of another life, and touches nothing of it.  Its library stays mapped as
 * long as there is a queue, whatever the program closes.  A forked child has none.
 */
#pragma once

#include "target/sdk/counters/config_packets.h"
#include "target/sdk/counters/hsa_functions.h"

enum device_step { STEP_NONE, STEP_START, STEP_READ, STEP_STOP };

/* What came of it. */
enum device_answer {
	DEVICE_DONE,
	DEVICE_LATE,   /* not yet: the device may still do it */
	DEVICE_SHUT,   /* not now: the program starts its runtime or shuts it down */
	DEVICE_GONE,   /* its runtime was shut down */
	DEVICE_BROKEN, /* the runtime says so: nothing is done in it any more */
};

struct device_queue {
	const struct hsa_queue *queue; /* NULL: there is none */
	uint64_t signal;
	uint32_t life;       /* of the runtime, in which it was made */
	uint32_t puts;       /* of our stubs, then, see intercept.h */
	uint32_t under_way;  /* enum device_step */
	uint32_t is_started; /* that packet was put */
	uint32_t is_broken;
	struct hsa_library library;
	struct hsa_functions hsa;
	struct packet_set set;
	struct config_packets packets;
};

/* All in one's turn.  A queue's address must not change: queues are static. */

/* A status; on failure there is none.  HSA_NOT_LOADED: it may be opened later, also where
 * hsa_shut_down() does not lead to us yet; NO_PROFILE_QUEUE: somebody else is in front of us there,
 * or of a function that we need; CONTEXT_CONFLICT: limpet's tracer counts devices. */
int device_queue_open(struct device_queue *ret, const struct counter_config *config,
		      struct packet_events *events);
bool device_queue_is_there(const struct device_queue *self);
/* Within that time.  A step that is late is waited for by the next one. */
enum device_answer device_queue_step(struct device_queue *self, enum device_step step,
				     uint64_t limit_ns);
/* What the last STEP_READ has read.  False: it is not whole. */
bool device_queue_values(struct device_queue *self, struct counted_values *ret);
/* Stops what was started, and gives everything back; true: there is none any more.  False: the
 * device or the runtime may still use it, and all of it stays. */
bool device_queue_close(struct device_queue *self, uint64_t limit_ns);
/* The same on a thread that has shut the gate. */
bool device_queue_close_alone(struct device_queue *self, uint64_t limit_ns);

/* Lets the program unload HSA, where there is no queue.  Asks the loader, which the program's own
 * threads do not wait for where they end HSA: there it stays mapped until the next open or this. */
void device_queue_let_go(struct device_queue *self);

/* How many there are.  Any thread. */
uint32_t device_queues_count(void);
/* Who counts in this process, see counting_claim.h. */
uint32_t *device_queues_claim(void);
/* Do tools count, by queues of ours or in those of the program's?  hsa_init() and hsa_shut_down()
 * lead to us as long, whatever contexts want. */
bool device_queues_are_claimed(void);

/* The runtime's life at present; another number after each of its ends. */
uint32_t device_queues_life(void);
/* Inside the gate: is what was made in that life, with stubs that were put so often into that core
 * table, still there? */
enum device_answer device_queues_judge(uint32_t life, uint32_t puts, const uint64_t *entries);

/* The runtime is gone: any thread, and not in one's turn. */
void device_queues_end_life(void);
/* The program is ending: returns when nobody is in HSA or aqlprofile for a queue, and nobody will
 * be.  Not in one's turn. */
void device_queues_end(void);
bool device_queues_are_over(void);
/* In a forked child. */
void device_queues_adopt(void);
