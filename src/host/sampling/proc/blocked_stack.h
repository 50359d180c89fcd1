/*
 * The stack of a thread that waits in a system call, read from outside.  Its stack pointer and pc
 * are known, its frame pointer is not: where a frame needs it before a row restores it, it is
 * guessed.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/sampling/interpreter_stacks.h"
#include "host/unwind/space.h"

struct blocked_stack {
	uint64_t read_ns; /* when it was last seen waiting there */
	unsigned count;
	enum stack_end end;
	bool is_guessed;
};

/* -EACCES, -EPERM: not allowed; -ESRCH: it has ended; -EAGAIN: it does not wait in a call.
 * `outside` reads its interpreted frames of the same moment. */
int blocked_stack_read(struct blocked_stack *ret, const struct space *space, pid_t tid,
		       __u64 *frames, unsigned capacity, struct outside_frames *outside) MUST_CHECK;
