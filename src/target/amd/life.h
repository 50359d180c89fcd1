/*
 * The life of an HSA runtime: the last hsa_shut_down() frees everything that the runtime has handed
 * out, and resets its tables; the next hsa_init() begins again, and registers the tables again,
 * unless registration is disabled.
 */
#pragma once

#include "target/amd/tables/call.h"

/* What to do after a runtime has begun; set first. */
void life_prepare(void (*work)(void));
/* Called for the first tool, or the tracer: opens a gate left shut by a thread that left its call
 * by longjmp. */
void life_begin(void);
/* In a forked child. */
void life_adopt(void);

/* The runtime of a known table registers again: known objects are of its former life. */
struct agent_table;
void life_registered(const struct agent_table *table);

/* Around hsa_init() and hsa_shut_down(). */
void life_before_init(struct call_frame *frame);
void life_after_init(struct call_frame *frame, uint64_t end);
void life_before_shut_down(struct call_frame *frame);
void life_after_shut_down(struct call_frame *frame, uint64_t end);
