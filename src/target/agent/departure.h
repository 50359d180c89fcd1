/*
 * Leaving before the program changes what it may do: asked for by limpet's tracer, which sees such
 * calls.  The functions with limpet_ are exported.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/runtime/descriptor.h"

#include <stdbool.h>

/* Asks the control thread to end its residence, as it does when it sees the change itself.  On a
 * thread of ours. */
void limpet_agent_leave(void);

/* Has it ended, and all threads before it?  On any thread: looks at memory only, or asks the kernel
 * where libc does not say where to look. */
bool limpet_agent_has_left(void);

/* May a thread of the program's make the system calls of ours for which filters were asked?  Not
 * where one may have a filter of its own, which could kill for them. */
bool limpet_agent_may_call(void);

/* From now on, until the residence ends. */
void departure_allow_calls(void);

/* On the control thread, when a residence begins. */
void departure_prepare(const struct boot_context *boot, int socket);

bool departure_is_wanted(void);
