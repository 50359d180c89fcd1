/*
 * The stack of a thread that waits in a system call, read from outside.  Its stack pointer and pc
 * are known, its frame pointer is not: where a frame needs it before a row restores it, it is
 * guessed.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/sampling/interpreter_stacks.h"
#include "host/unwind/space.h"

/* Fills the frames, end and flags of a sample with room for SAMPLE_FRAMES_MAX; *ret_ns: when the
 * thread was last seen waiting there.  -EACCES, -EPERM: not allowed; -ESRCH: it has ended; -EAGAIN:
 * it does not wait in a call.  `outside` reads its interpreted frames of the same moment. */
int blocked_stack_read(struct sample *ret, uint64_t *ret_ns, const struct space *space, pid_t tid,
		       struct outside_frames *outside) MUST_CHECK;
