/*
 * Kernels and copies of HIP programs, as the runtime itself reports them.
 *
 * The runtime has one slot for one function (hipRegisterTracerCallback).  It asks that function,
 * inside the call that makes a command, whether the command is to be reported, and reports it when
 * the device has done it.  Which report answers which question it does not say: that is inferred,
 * see launches.h.
 */
#pragma once

#include "target/hooks/hook.h"
#include "target/hooks/notes.h"

struct slot_list;

/* Puts our function there, once a session.  slots: of HIP's table, and their names.  Bits of the
 * domains that are seen from now on. */
uint32_t activity_begin(const uint64_t *slots, const struct slot_list *names, bool kernels,
			bool copies);

/* Waits for reports, for a while, and takes our function away.  How many did not come. */
uint32_t activity_end(void);
void activity_forget(void);

/* A call of HIP's has returned: what it asked for will not be done when it failed. */
void activity_leave(const struct hook_frame *frame);
