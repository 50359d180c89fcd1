/*
 * What puts packets around kernels in the program's queues for a tool that counts them, and when:
 * as long as the tool's context is active, HSA runs, and its end leads to us.
 *
 * Nothing of HSA's ever calls us for it: who waits for the device is a thread of ours, which looks.
 */
#pragma once

#include "target/sdk/counters/dispatch/sets.h"
#include "target/sdk/counters/dispatch/visits.h"

/* A context has started on this thread: why its kernels cannot be counted; a status. */
int dispatch_engine_start(unsigned context);
/* Contexts have started or stopped, HSA came or went, or a tool has chosen another config.  Any
 * thread of ours or of a tool's; calls no tool. */
void dispatch_engine_follow(void);

/* Are packets in the program's queues looked at?  Then hooks of them stay, whatever contexts want.
 */
bool dispatch_engine_is_begun(void);
/* Around what a call of the program's comes to, for moments: queues and sets stay meanwhile.  To be
 * given to visit_end(); 0: nothing is looked at. */
unsigned dispatch_engine_visit(void);
const struct hsa_functions *dispatch_engine_hsa(void);

/* In a visit, all of them.  Room for one packet in the queue, with ours around it: its index; the
 * handle is that of the program's call.  False: the program takes it as ever. */
bool dispatch_engine_reserve(struct counted_queue *queue, const struct hsa_queue *handle,
			     const struct launch_origin *origin, uint64_t *ret_index);
/* Packets up to that one go by uncounted. */
void dispatch_engine_note_plain(struct counted_queue *queue, uint64_t last);
/* HSA's functions for rings. */
struct ring_calls dispatch_engine_calls(void);
/* Something goes by that cannot be told where: nothing that is under way, or comes, is right before
 * the next start. */
void dispatch_engine_spoil(void);
/* Also where calls of queues do not lead to us any more. */
bool dispatch_engine_is_spoiled(void);
/* Not in a visit: a queue is about to be destroyed: forgets it, and waits until nobody of ours
 * rings for it.  Its life, see queues.h; 0: it was not known. */
uint64_t dispatch_engine_leave_queue(uint64_t doorbell);
/* No more room is taken. */
void dispatch_engine_halt(void);

/* In one's turn.  Until nobody is in a visit that has begun before, for a while; whoever comes
 * later sees what was said before.  False: somebody still is. */
bool dispatch_engine_await_visits(void);

/* Inside the gate, and what was made is there; to be left by hsa_gate_leave().  False: not now. */
bool dispatch_engine_enter(void);

/* A kernel went by uncounted that a tool wanted to have counted. */
void dispatch_engine_miss(void);

/* In a forked child. */
void dispatch_engine_adopt(void);
