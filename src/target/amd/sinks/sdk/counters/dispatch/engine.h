/*
 * Puts packets around kernels in application queues for a tool that counts them, while the tool's
 * context is active, HSA runs, and hsa_shut_down() leads to limpet's stub.
 *
 * Completion is polled by limpet's own thread; HSA never calls back for it.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/dispatch/runtime.h"

/* A context was started on this thread: a status, why its kernels cannot be counted. */
int dispatch_engine_start(unsigned context);
/* Contexts have started or stopped, HSA was started or shut down, or a tool has chosen another
 * config. Callable from threads of limpet and of tools; calls no tool. */
void dispatch_engine_follow(void);

/* In a visit, like the next one. Reserves a slot for one packet, with limpet's around it; `handle`
 * is that of the application's call. False: the application reserves as usual. */
bool dispatch_engine_reserve(struct counted_queue *queue, const struct hsa_queue *handle,
			     const struct launch_origin *origin, uint64_t *ret_index);
/* Packets up to that index run uncounted. */
void dispatch_engine_note_plain(struct counted_queue *queue, uint64_t last);
/* Unseen packets run in an unknown queue: values are wrong until the next start. */
void dispatch_engine_spoil(void);
/* Also true if queue calls do not lead to limpet any more. */
bool dispatch_engine_is_spoiled(void);
/* Outside a visit: a queue is about to be destroyed. Forgets it, and waits until no thread of
 * limpet rings its doorbell. Returns its life, see queues.h; 0: unknown. */
uint64_t dispatch_engine_leave_queue(uint64_t doorbell);
/* Stops reserving slots for good. */
void dispatch_engine_halt(void);

/* Counts a kernel that a tool wanted, but that ran uncounted. */
void dispatch_engine_miss(void);

/* In a forked child. */
void dispatch_engine_adopt(void);
