/*
 * Counters of kernels. Packets of aqlprofile are put around each kernel in the application's
 * queues: where the application reserves one slot, limpet reserves four, of which the second is the
 * application's. limpet's packets are written at once, so a detach meanwhile leaves nothing undone.
 *
 *   start · application packet · stop · read, with a signal of limpet's
 *
 * No queue ever waits for limpet: slots are reserved only if there is room, by one
 * compare-and-swap, and only while less than half of the ring is in use. A packet that cannot be
 * counted is counted as skipped. If limpet's packets lie in a fuller ring, limpet rings its
 * doorbell.
 *
 * Kernels are not serialized: kernels of other queues may run at the same time. The host recognizes
 * kernels that ran alone by their times, and by a flag, which is set if limpet's packets of other
 * queues were in flight meanwhile, or uncounted packets may have run.
 */
#pragma once

#include "target/amd/counters/devices.h"
#include "target/amd/hsa/queues.h"

/* Reasons for not counting packets. */
enum counter_skip {
	SKIP_GROUP,  /* several slots reserved at once: graphs */
	SKIP_SINGLE, /* a single-producer queue, or a write index set by the application */
	SKIP_FULL,   /* too little room in the ring */
	SKIP_SETS,   /* too many kernels in flight */
	COUNTER_SKIPS,
};

void counters_use(const struct counter_request *request);

/* Makes packet sets for the known devices. On limpet's threads, once in a session. */
enum counting_fault counters_begin(void);
bool counters_are_on(void);
/* Likewise windows of whole devices, see windows.h. */
enum counting_fault counters_begin_windows(void);

/* Reserves slots for one packet and limpet's packets around it; returns its index. False: the
 * application reserves its slot as usual. */
bool counters_reserve(const struct hsa_queue *queue, uint64_t *ret_index);
/* Notes an uncounted packet. */
void counters_skip(const struct hsa_queue *queue, uint64_t index, enum counter_skip why);
/* After the application has reserved slots up to `index` itself: waits until no packet of limpet's
 * is in these, even after counting has stopped. */
void counters_await_room(const struct hsa_queue *queue, uint64_t index);

/* A queue from before the attach: it may contain uncounted packets before `next`. */
void counters_queue_came(const struct hsa_queue *queue, uint64_t next);

/* Finds the set around a packet; NULL if there is none. */
struct counter_set *counters_find_set(const struct known_queue *known, uint64_t index);
/* Describes the set's kernel; NULL if the packet is no kernel or unknown. */
void counters_describe(struct counter_set *set, const struct hsa_command *command);
/* Returns the last of limpet's packets that the doorbell must cover. */
uint64_t counters_last_of(const struct known_queue *known, uint64_t index);
/* Stores the kernel's times. */
struct device_times;
void counters_store_times(const struct hsa_command *command, const struct device_times *times);

/* Before a queue is destroyed: waits until its device has executed limpet's packets in it
 * (leaving.h), forgets it, and waits until no thread of limpet's rings its doorbell. */
void counters_queue_leaves(const struct hsa_queue *queue);

/* Stops counting; number of sets in flight; ends the rest. */
void counters_stop(void);
uint32_t counters_under_way(void);
struct counters_left {
	uint32_t skipped[COUNTER_SKIPS];
	uint32_t cut; /* sets in flight */
} counters_end(void);
/* Frees packets while the runtime exists. False: signals must not be freed. */
bool counters_give_back(void);
/* The runtime was shut down. */
void counters_forget(void);
/* In a forked child: drops the parent's state and the counts of its threads. */
void counters_forget_parent(void);
