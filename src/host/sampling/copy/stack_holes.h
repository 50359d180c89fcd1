/*
 * Pages in the middle of stacks that were never written: the kernel copies a stack up to the first
 * page that is not present, and large buffers have many.  While one is missing, no copy of that
 * thread is whole.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define STACK_HOLES_NS 200000000ull /* for all processes of a recording: sampling waits for it */

/* Reads each page of this process's stacks that lies above one in use and is not present yet: it is
 * present from then on, empty, as the process itself would find it.  Pages below those in use are
 * left alone, and so is what may not be read.  Ends early when the time that is left is over, at an
 * interrupt, and when the process of the pidfd (-1: not checked) has ended. */
void stack_holes_fill(pid_t pid, int pidfd, uint64_t *left_ns);
