/*
 * Closes a library so that its __cxa_finalize runs at a safe moment. In glibc __cxa_finalize
 * acquires the lock of exit() and, holding it, that of all fork handlers, which before 2.36 a fork
 * holds all the time: its child would get the former lock locked for ever, and hang in exit().
 */
#pragma once

#include "shared/wire/boot.h"

/* dlclose; returns its result. */
int tool_library_close(const struct boot_libc *libc, void *handle);
