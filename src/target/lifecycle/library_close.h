/*
 * Closes a library so that its __cxa_finalize comes at a safe moment.  In glibc that takes the lock
 * of exit() and, holding it, that of all handlers of fork, which before 2.36 a fork has for its
 * whole time: its child would get a copy of the former in which it is held for ever, and hang in
 * exit().
 */
#pragma once

#include "shared/wire/boot.h"

/* dlclose; what it returned. */
int tool_library_close(const struct boot_libc *libc, void *handle);
