/*
 * Pages in the middle of stacks that were never written to: the kernel copies a stack up to the
 * first page that is not there, and large buffers have many.  As long as one is not there, no copy
 * of that thread is whole.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define STACK_HOLES_NS 200000000ull /* for all processes of a recording: samples wait for it */

/* Reads each page of this process's stacks that lies above one in use, as far as it is not there
 * yet: it is there from then on, empty, as the process itself would find it.  Pages below those in
 * use are left alone, and so is what may not be read.  Ends early when the time that is left is
 * over, at an interrupt, and when the process of the pidfd (-1: not asked) has ended. */
void stack_holes_fill(pid_t pid, int pidfd, uint64_t *left_ns);
