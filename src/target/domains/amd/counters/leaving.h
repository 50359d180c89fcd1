/*
 * What is under way when the program takes away what it needs: a queue, the runtime, or itself.  A
 * program may do so as soon as its kernels are done, and our packets come after them.
 */
#pragma once

#include "target/domains/amd/counters/devices.h"
#include "target/domains/amd/hsa/queues.h"

/* A session begins. */
void leaving_begin(void);

/* Packets of ours in that queue? */
bool leaving_concerns(const struct hsa_queue *queue);

/* Before it is destroyed, and forgotten: waits, for a while, until the device has done those around
 * what it has begun.  NULL: it was not known. */
void leaving_queue(const struct hsa_queue *queue, const struct known_queue *known);
/* It was destroyed: the device does no more for it.  Another may have its doorbell by now. */
struct queue_gone {
	uint64_t doorbell;
	uint64_t last; /* use of a set (sets.h) that can have been in it */
};
void leaving_queue_is_gone(const struct queue_gone *gone);

/* Before the runtime is shut down, or the program ends: waits, for a while, until the counters of
 * kernels that are done were read, and written. */
void leaving_all(void);
/* What is under way comes to no end: it is written as far as it is known. */
void leaving_give_up(void);
/* The program has done all that it does in exit(): both. */
void leaving_program(void);

/* Signals of ours may go, where that is so; waits for it, for a while. */
bool leaving_is_nobody(void);
/* In a forked child. */
void leaving_forget_parent(void);
