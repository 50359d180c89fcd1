/*
 * Stacks of interpreters on their way out of a ring: the target tells frames as addresses, the
 * recording has them as text.
 */
#pragma once

#include "host/collect/slot.h"
#include "shared/wire/ring.h"

/* One that asked for its Python has an answer so often. */
#define CALL_STACK_ASK_NS 20000000u

/* True: it was a stack, and the slot has its text, or none where it makes no sense.  -ENOMEM. */
int call_stack_take(const struct collect_stacks *stacks, struct slot *slot,
		    const struct record *record, uint64_t now_ns);

/* Answers a thread that wants to know where the state of its Python is. */
void call_stack_answer(const struct collect_stacks *stacks, struct slot *slot, struct rings *rings,
		       struct ring *ring, uint64_t now_ns);
