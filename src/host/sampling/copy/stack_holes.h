/*
 * Pages in the middle of stacks that were never written to: the kernel copies a stack up to the
 * first page that is not there, and large buffers have many.  As long as one is not there, no copy
 * of that thread is whole.
 */
#pragma once

#include <sys/types.h>

/* Reads each page of this process's stacks that lies above one in use, as far as it is not there
 * yet: it is there from then on, empty, as the process itself would find it.  Pages below those in
 * use are left alone, and so is what may not be read. */
void stack_holes_fill(pid_t pid);
