/*
 * Puts packets around kernels in application queues for a tool that counts them, while the tool's
 * context is active, HSA runs, and hsa_shut_down() leads to limpet's stub.
 *
 * Completion is polled by limpet's own thread; HSA never calls back for it.
 */
#pragma once

#include "target/amd/counters/sets.h"
#include "target/amd/counters/visits.h"

/* A context was started on this thread: a status, why its kernels cannot be counted. */
int dispatch_engine_start(unsigned context);
/* Contexts have started or stopped, HSA was started or shut down, or a tool has chosen another
 * config. Callable from threads of limpet and of tools; calls no tool. */
void dispatch_engine_follow(void);

/* True while limpet watches packets in application queues. Queue stubs then stay installed even if
 * no context needs them. */
bool dispatch_engine_is_begun(void);
/* Begins a visit: queues and sets stay valid during this part of an application call. Pass the
 * result to visit_end(); 0: nothing is watched. */
unsigned dispatch_engine_visit(void);
const struct hsa_functions *dispatch_engine_hsa(void);

/* In a visit, like the next two. Reserves a slot for one packet, with limpet's around it; `handle`
 * is that of the application's call. False: the application reserves as usual. */
bool dispatch_engine_reserve(struct counted_queue *queue, const struct hsa_queue *handle,
			     const struct launch_origin *origin, uint64_t *ret_index);
/* Packets up to that index run uncounted. */
void dispatch_engine_note_plain(struct counted_queue *queue, uint64_t last);
/* HSA's functions for rings. */
struct ring_calls dispatch_engine_calls(void);
/* Unseen packets run in an unknown queue: values are wrong until the next start. */
void dispatch_engine_spoil(void);
/* Also true if queue calls do not lead to limpet any more. */
bool dispatch_engine_is_spoiled(void);
/* Outside a visit: a queue is about to be destroyed. Forgets it, and waits until no thread of
 * limpet rings its doorbell. Returns its life, see queues.h; 0: unknown. */
uint64_t dispatch_engine_leave_queue(uint64_t doorbell);
/* Stops reserving slots for good. */
void dispatch_engine_halt(void);

/* With the device turn held: waits up to two seconds for visits that began before; later visits see
 * what was stored before. False: a visit is still running. */
bool dispatch_engine_await_visits(void);

/* Enters the gate if everything made is valid; leave by hsa_gate_leave(). False: not now. */
bool dispatch_engine_enter(void);

/* Counts a kernel that a tool wanted, but that ran uncounted. */
void dispatch_engine_miss(void);

/* In a forked child. */
void dispatch_engine_adopt(void);
