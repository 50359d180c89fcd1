/*
 * setuid and its like are broadcast by libc: every thread of the process is told to make the same
 * system call, and libc ends the program when one of them gets another answer.  Capabilities
 * belong to a thread, so a thread of ours may get another answer than the program's.
 */
#pragma once

#include "shared/wire/boot.h"

/* Called first by each thread of ours, on itself: from now on it is not told, or cannot fail. */
void broadcast_avoid(const struct boot_libc *libc);
