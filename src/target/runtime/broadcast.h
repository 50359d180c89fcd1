/*
 * setuid and its like are broadcast by libc: every thread of the process is told to make the same
 * system call, and libc ends the program when one of them gets another answer.  Capabilities
 * belong to a thread, so a thread of ours may get another answer than the program's.
 */
#pragma once

#include "shared/wire/boot.h"

#include <pthread.h>

/* Called first by each thread of ours, on itself: from now on it is not told, or cannot fail. */
void broadcast_avoid(const struct boot_libc *libc);

/* The same of a thread that the caller has just made, and whose memory is ours: on a busy machine
 * it may wait for a processor while the program changes its ids.  glibc lets a broadcast wait until
 * such a thread has begun, and then it is told before it can hide. */
void broadcast_spare(const struct boot_libc *libc, pthread_t thread);
