/*
 * The host's memory for records, and the agent's interface for limpet's tracer. Functions with
 * limpet_ are exported; a tracer that does not find these, or gets NULL, has no host.
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/ring.h"

struct rings *limpet_agent_rings(void);
/* Addresses of libc's functions. */
const struct boot_libc *limpet_agent_libc(void);

/* The agent's turn with forks, for libraries unloaded together with it; NULL: none. */
struct fork_turn *limpet_agent_turn(void);

/* Keeps the tracer loaded; the first reason is kept. */
void limpet_agent_keep_tracer(const char *reason);
/* True while the tracer is closed, after a proof that no application memory leads to it. */
bool limpet_agent_is_unloading(void);

/* True if the thread with that ID is limpet's. On any application thread. */
bool limpet_agent_is_own(int32_t tid);

/* Begins a residence. */
void rings_begin(const struct boot_libc *libc);

/* Maps the memory; 0, -EBADF, -EPROTO, -errno of the mapping. Unmaps earlier memory. */
int rings_take(int fd, uint64_t size) MUST_CHECK;

/* The number of the tracer's threads. */
unsigned rings_tracer_threads(void);

/* Unmaps the memory. If an application thread may still be writing there, a later call unmaps it,
 * after the tracer has found that thread outside. */
void rings_drop(void);
