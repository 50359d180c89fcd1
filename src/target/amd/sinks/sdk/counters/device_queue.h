/*
 * A queue of limpet's on a device, for packets that start, read and stop the device's counters; no
 * application queue is touched.
 *
 * The application may shut the runtime down at any time, which frees everything in it. So a queue
 * is used only with the device turn held (device_turn.h), briefly between hsa_gate_enter() and
 * hsa_gate_leave(), and while hsa_shut_down() leads to limpet's stub before any other function. No
 * thread waits for a device inside the gate. Before each hsa_shut_down() of the application, which
 * may be the last one, all queues are closed on its thread, with the turn held; the runtime frees
 * those that are not closed in time. Each shutdown changes the life number, so later users of a
 * queue see that it is gone. The library stays mapped while a queue exists, whatever the
 * application closes. A forked child has no queue.
 */
#pragma once

#include "target/amd/hsa/functions.h"
#include "target/amd/sinks/sdk/counters/config_packets.h"

enum device_step { STEP_NONE, STEP_START, STEP_READ, STEP_STOP };

/* The result of a step. */
enum device_answer {
	DEVICE_DONE,
	DEVICE_LATE,   /* the device has not answered, and still may */
	DEVICE_SHUT,   /* not now: the runtime is being started or shut down */
	DEVICE_GONE,   /* its runtime was shut down */
	DEVICE_BROKEN, /* the runtime has reported a fault; not used any more */
};

struct device_queue {
	const struct hsa_queue *queue; /* NULL: no queue */
	uint64_t signal;
	uint32_t life;       /* of the runtime, when the queue was made */
	uint32_t puts;       /* how often stubs were stored by then, see intercept.h */
	uint32_t under_way;  /* enum device_step */
	uint32_t is_started; /* a start packet was stored */
	uint32_t is_broken;
	struct hsa_library library;
	struct hsa_functions hsa;
	struct packet_set set;
	struct config_packets packets;
};

/* Why functions of HSA cannot be used, as a status. */
int status_of_lack(enum hsa_lack lack);

/* Call all with the device turn held. A queue's address must not change: queues are static. */

/* A status; on failure there is no queue. HSA_NOT_LOADED: try again later, also if hsa_shut_down()
 * does not lead to limpet yet. NO_PROFILE_QUEUE: another tool's function is in front of limpet's,
 * or replaces a needed one. CONTEXT_CONFLICT: limpet's tracer counts. */
int device_queue_open(struct device_queue *ret, const struct counter_config *config,
		      struct packet_events *events);
bool device_queue_is_there(const struct device_queue *self);
/* Runs a step within that time. A late step is awaited by the next call. */
enum device_answer device_queue_step(struct device_queue *self, enum device_step step,
				     uint64_t limit_ns);
/* The values of the last STEP_READ. False: they are incomplete. */
bool device_queue_values(struct device_queue *self, struct counted_values *ret);
/* Stops counting and frees everything; true: the queue is gone. False: the device or the runtime
 * may still use the queue, and nothing is freed. */
bool device_queue_close(struct device_queue *self, uint64_t limit_ns);
/* The same on a thread that has shut the gate. */
bool device_queue_close_alone(struct device_queue *self, uint64_t limit_ns);

/* Releases HSA's library if there is no queue. Enters the loader, for which application threads
 * must not wait while they shut HSA down: they keep the library until an open or this call. */
void device_queue_let_go(struct device_queue *self);

/* The runtime's current life, a number that changes with each shutdown. */
uint32_t device_queues_life(void);
/* Inside the gate: is something still usable that was made in that life, when stubs had been stored
 * `puts` times in that core table? */
enum device_answer device_queues_judge(uint32_t life, uint32_t puts, const uint64_t *entries);

/* The runtime was shut down. Callable from any thread, without the device turn. */
void device_queues_end_life(void);
/* In exit(): returns when no thread is in HSA or aqlprofile for a queue, and keeps them out. Call
 * without the device turn. */
void device_queues_end(void);
bool device_queues_are_over(void);
