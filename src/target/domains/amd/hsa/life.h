/*
 * The life of an HSA runtime: the last hsa_shut_down() destroys all agents, pools, signals, queues
 * and executables, and resets the runtime's tables; the next hsa_init() begins again, and registers
 * the tables again, unless registration is disabled.
 */
#pragma once

#include "target/domains/amd/hsa/calls.h"
#include "target/hooks/hook.h"

/* A session begins: no runtime is known. */
void hsa_life_start(void);

/* consult: returns when tables are hooked and devices are queried, or after a time limit. */
void hsa_life_use(void (*consult)(void));

/* Notes a runtime by its root table. On limpet's threads. */
void hsa_life_learn(uint64_t root, const struct hsa_slots *core);

/* The runtime registers its tables, on an application thread: known objects are of its former
 * life. */
void hsa_life_registered(uint64_t root);

/* True if device work needs the call's hook. */
bool hsa_life_needs(const struct traced *traced);

/* The hooks of hsa_init() and hsa_shut_down(). */
traced_before hsa_before_init, hsa_before_shut_down;
traced_after hsa_after_init, hsa_after_shut_down;
