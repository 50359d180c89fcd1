/*
 * External correlation ids: what a tool has pushed for a thread, in one of its contexts, and what
 * it answers when it is asked.
 */
#pragma once

#include "target/sdk/abi.h"

/* Made at the first push; stays as long as this library. */
struct external;
extern struct external *external_entries;
uint64_t external_look_up(unsigned context, int32_t thread);

/* What was pushed last for that thread in that context (its index), else for the program's first
 * thread. */
static inline uint64_t external_current(unsigned context, int32_t thread)
{
	/* Relaxed: all that is there was put there by atomic operations, or is zero. */
	return __atomic_load_n(&external_entries, __ATOMIC_RELAXED)
		       ? external_look_up(context, thread)
		       : 0;
}

void external_forget(unsigned context);
/* Unmaps them, when no thread of the target can call this library any more. */
void external_close(void);

/* In a forked child. */
void external_adopt(void);
