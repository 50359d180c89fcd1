/*
 * The life of a HSA runtime: the last hsa_shut_down() takes everything with it that the runtime has
 * handed out (agents, pools, signals, queues, executables) and sets its tables anew; the next
 * hsa_init() begins again, and registers them again, unless it was told not to.
 */
#pragma once

#include "target/domains/amd/hsa/calls.h"
#include "target/hooks/hook.h"

/* A session begins: nothing is known. */
void hsa_life_start(void);

/* consult: returns when tables are hooked and devices are asked, or after a while. */
void hsa_life_use(void (*consult)(void));

/* A runtime that we know, by its root table.  On threads of ours. */
void hsa_life_learn(uint64_t root, const struct hsa_slots *core);

/* It hands over its tables, on a thread of the program's: what we have is of its former life. */
void hsa_life_registered(uint64_t root);

/* Must the call be seen for whatever is asked of devices? */
bool hsa_life_needs(const struct traced *traced);

/* The hooks of hsa_init() and hsa_shut_down(). */
traced_before hsa_before_init, hsa_before_shut_down;
traced_after hsa_after_init, hsa_after_shut_down;
