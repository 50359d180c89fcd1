/*
 * Waits until the target's C library is initialised.
 */
#pragma once

#include "host/attach/target.h"

/*
 * -EAGAIN with a reason in err, when it still is not after the limit.
 *
 * limpet's thread must not run while the program's linker has relocations to do: with the raw
 * initial values of libc's thread-local data its first malloc would end the process.  The injector
 * checks libc only when the thread is stopped, which may be long after everything else was read.
 * So all that matters is read after this.
 */
int libc_wait(struct target *target, uint64_t limit_ns, struct err *err) MUST_CHECK;
