/*
 * Keeps forks of the program and one dangerous call of ours apart.
 *
 * __cxa_finalize, which every library calls that goes, takes in glibc the lock of exit() and,
 * holding it, that of fork().  A fork under way has the latter for its whole time; its child would
 * get a copy of the former in which it is held for ever, and hang in exit().  So while libraries
 * go, forks tell us that they are under way, and wait, where glibc lets them, until we are done.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* Only glibc has these locks. */
bool fork_gate_is_needed(const struct boot_libc *libc);

/* Before the first and after the last.  After closing, nobody is in our code for it any more. */
void fork_gate_open(const struct boot_libc *libc);
void fork_gate_close(const struct boot_libc *libc);

/* __cxa_finalize with no fork under way. */
void fork_gate_finalize(const struct boot_libc *libc, void *dso_handle);
