/*
 * Detaches before the target changes its rights: limpet's tracer, which hooks such calls, requests
 * it. Functions with limpet_ are exported.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/runtime/descriptor.h"

#include <stdbool.h>

/* Makes the control thread end its residence, as after a change of rights that it has found itself.
 * On limpet's threads. */
void limpet_agent_leave(void);

/* True once the control thread and limpet's other threads have ended. On any thread: reads only
 * memory, or asks the kernel if libc does not say where to read. */
bool limpet_agent_has_left(void);

/* True if application threads may make limpet's system calls, whose need the host has checked
 * against all filters. False if a thread may have a filter of its own, which could kill it. */
bool limpet_agent_may_call(void);

/* Sets that for the rest of the residence. */
void departure_allow_calls(void);

/* On the control thread, at the begin of a residence. */
void departure_prepare(const struct boot_context *boot, int socket);

bool departure_is_wanted(void);
