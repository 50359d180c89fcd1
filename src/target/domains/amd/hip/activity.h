/*
 * Kernels and copies of HIP programs, as the runtime itself reports them.
 *
 * The runtime has one slot for one callback (hipRegisterTracerCallback). Inside the call that makes
 * a command, the runtime asks the callback whether to report the command, and reports it after the
 * device has executed it. The report does not identify its question: see launches.h.
 */
#pragma once

#include "target/hooks/hook.h"
#include "target/hooks/notes.h"

struct slot_list;

/* Registers the callback, once a session. slots: of HIP's table, and their names. Returns the
 * traced domains as bits. */
uint32_t activity_begin(const uint64_t *slots, const struct slot_list *names, bool kernels,
			bool copies);

/* Waits for reports, up to a limit, and unregisters it. Returns the number of missing reports. */
uint32_t activity_end(void);
void activity_forget(void);

/* After a HIP call has returned: commands of a failed call are never executed. */
void activity_leave(const struct hook_frame *frame);
