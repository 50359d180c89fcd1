/*
 * The code of the kernel's scheduler.  A thread leaves the processor in __schedule(): frames
 * further in on its kernel stack belong to the tracing that read the stack, not to the thread.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct sample;

/* The code of __schedule(); both 0 while it is not known. */
struct scheduler {
	uint64_t start, end;
};

/* Finds it in a file like /proc/kallsyms.  False: the kernel hides its addresses. */
bool scheduler_find(struct scheduler *ret, const char *path);

/* Removes the kernel frames of a sample that are further in than the scheduler. */
void scheduler_cut(const struct scheduler *scheduler, struct sample *sample);
