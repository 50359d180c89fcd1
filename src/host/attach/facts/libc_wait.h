/*
 * Is the target's C library initialised?
 */
#pragma once

#include "host/attach/target.h"

/*
 * Waits until it is, for at most so long; -EAGAIN, in words, when it still is not.
 *
 * What a starting program's linker has not relocated yet is not what our thread must find: with the
 * raw first values of libc's thread-local data its first malloc ends the process.  The injector
 * looks at libc only when the thread is stopped, which may be long after everything else was read.
 * So all that counts is read after this.
 */
int libc_wait(struct target *target, uint64_t limit_ns, struct err *err) MUST_CHECK;
