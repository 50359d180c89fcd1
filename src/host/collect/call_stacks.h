/*
 * Stacks of interpreters on their way out of a ring: the target writes frames as addresses, the
 * recording has them as text.
 */
#pragma once

#include "host/collect/slot.h"
#include "shared/wire/ring.h"

/* How often a thread's request for its Python is answered. */
#define CALL_STACK_ASK_NS 20000000u

/* True: it was a stack, and the slot has its text, or none where it makes no sense.  -ENOMEM. */
int call_stack_take(const struct collect_stacks *stacks, struct slot *slot,
		    const struct record *record, uint64_t now_ns);

/* Answers a thread that has requested the address of its Python state. */
void call_stack_answer(const struct collect_stacks *stacks, struct slot *slot, struct rings *rings,
		       struct ring *ring, uint64_t now_ns);
