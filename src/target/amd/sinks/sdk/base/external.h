/*
 * External correlation ids: the values that tools have pushed for a thread in one of their
 * contexts.
 */
#pragma once

#include "target/amd/sinks/sdk/base/abi.h"

/* Mapped at the first push; unmapped with this library. */
struct external;
extern struct external *external_entries;
uint64_t external_look_up(unsigned context, int32_t thread);

/* The value pushed last for that thread in that context (its index), else for the target's first
 * thread. */
static inline uint64_t external_current(unsigned context, int32_t thread)
{
	/* Relaxed: all contents were stored by atomic operations, or are zero. */
	return __atomic_load_n(&external_entries, __ATOMIC_RELAXED)
		       ? external_look_up(context, thread)
		       : 0;
}

void external_forget(unsigned context);
/* Unmaps the table; no thread of the target may be able to call this library any more. */
void external_close(void);

/* In a forked child. */
void external_adopt(void);
