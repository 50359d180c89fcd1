/*
 * Waits for sets in flight when the application destroys what they need: a queue, the runtime, or
 * the process. It may do so as soon as its kernels have ended, but limpet's packets follow these.
 */
#pragma once

#include "target/amd/counters/devices.h"
#include "target/amd/hsa/queues.h"

/* Begins a session. */
void leaving_begin(void);

/* True if limpet's packets are in that queue. */
bool leaving_concerns(const struct hsa_queue *queue);

/* Before a queue is destroyed and forgotten: waits, up to a limit, until the device has executed
 * limpet's packets around those that it has begun. `known` may be NULL. */
void leaving_queue(const struct hsa_queue *queue, const struct known_queue *known);
/* After a queue was destroyed, which ends its packets. A new queue may have its doorbell. */
struct queue_gone {
	uint64_t doorbell;
	uint64_t last; /* last use of a set (sets.h) that can have been in it */
};
void leaving_queue_is_gone(const struct queue_gone *gone);

/* Before the runtime is shut down, or the process exits: waits, up to a limit, until the counts of
 * ended kernels are read and written. */
void leaving_all(void);
/* Writes sets in flight as far as they are known. */
void leaving_give_up(void);
/* After all exit handlers: waits shortly, then gives up. */
void leaving_program(void);

/* Waits, up to a limit, until no thread reads limpet's signals; true: signals may be destroyed. */
bool leaving_is_empty(void);
/* In a forked child. */
void leaving_forget_parent(void);
