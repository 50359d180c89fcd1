/*
 * Counters of kernels.  Packets of aqlprofile are put around each kernel in queues that exist
 * already: where the program asks for room for one packet, four are taken, of which the second is
 * its own.  The others are filled in at once, so nothing is left to do if we leave meanwhile.
 *
 *   start · the program's packet · stop · read, with a signal of ours
 *
 * No queue ever waits for us: room is taken only where it is there, in one atomic step, and as long
 * as less than half of the ring is in use; whatever cannot be counted goes by as it came, and is
 * counted as such.  Where packets of ours are in a ring that is fuller than that, its doorbell is
 * rung for them.
 *
 * Nothing is put in order: kernels of other queues may run at the same time.  Which were alone is
 * told by their times, on the host, and by a flag, where packets of ours of other queues were under
 * way between room for the first of a set and the read, or uncounted packets may have run then.
 */
#pragma once

#include "target/domains/amd/counters/devices.h"
#include "target/domains/amd/hsa/queues.h"

/* Flags of a record. */
#define COUNTER_MIXED 1u /* others were counted at the same time, or may have run uncounted */
#define COUNTER_UNTIMED \
	2u /* when it ran is not known: the times are when it was asked for and read */
#define COUNTER_INCOMPLETE                                                                       \
	4u /* not done when we, its queue or its runtime left, or not wholly read or told: there \
	      are no counts */
#define COUNTER_OTHER 8u /* no counted kernel: what was in a queue before we knew it */

/* What went by uncounted, and why. */
enum counter_skip {
	SKIP_GROUP,  /* several packets asked for at once: graphs */
	SKIP_SINGLE, /* a queue of one thread, or an index that the program sets itself */
	SKIP_FULL,   /* the ring had too little room */
	SKIP_SETS,   /* too many kernels at once */
	COUNTER_SKIPS,
};

void counters_start(const struct trace_request *request);

/* Devices are known: makes packets for them.  On threads of ours, once in a session. */
enum counting_fault counters_begin(void);
bool counters_are_on(void);
/* The same for windows of whole devices, see windows.h. */
enum counting_fault counters_begin_windows(void);

/* Room for one packet, with ours around it: its index.  False: the program takes it as ever. */
bool counters_reserve(const struct hsa_queue *queue, uint64_t *ret_index);
/* One goes by uncounted. */
void counters_skip(const struct hsa_queue *queue, uint64_t index, enum counter_skip why);
/* The program has taken room up to there itself: until its place is free of packets of ours, also
 * where no more are put. */
void counters_await_room(const struct hsa_queue *queue, uint64_t index);

/* A queue was made before us: packets of the program's may be in it, uncounted, from before `next`.
 */
void counters_queue_came(const struct hsa_queue *queue, uint64_t next);

/* The set around a packet; NULL. */
struct counter_set *counters_find(const struct known_queue *known, uint64_t index);
/* It is filled in: what it is, or NULL where that is no kernel or is not known. */
void counters_describe(struct counter_set *set, const struct hsa_command *command);
/* The last packet of ours that belongs to the one that is rung for. */
uint64_t counters_last_of(const struct known_queue *known, uint64_t index);
/* Its kernel is done; in ticks, 0: not known when. */
void counters_take_times(const struct hsa_command *command, uint64_t begin, uint64_t end);

/* A queue is about to be destroyed: waits for what its device does for us in it (leaving.h),
 * forgets it, and waits until nobody of ours rings for it. */
void counters_queue_leaves(const struct hsa_queue *queue);

/* No more is counted; how many are under way still; what is left of them. */
void counters_stop(void);
uint32_t counters_under_way(void);
struct counters_left {
	uint32_t skipped[COUNTER_SKIPS];
	uint32_t cut; /* under way */
} counters_end(void);
/* Gives packets back, with the runtime there.  False: signals are to stay. */
bool counters_give_back(void);
/* The runtime is gone. */
void counters_forget(void);
/* We are a forked child: what the parent had, and what its threads were at, is not here. */
void counters_forget_parent(void);
