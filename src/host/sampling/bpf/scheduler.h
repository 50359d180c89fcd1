/*
 * Where the kernel's scheduler is.  A thread leaves the processor in __schedule(): what lies
 * further in on its kernel stack is the tracing that took the stack, not the thread's own doing.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct sample;

/* The code of __schedule(); both 0 while it is not known. */
struct scheduler {
	uint64_t start, end;
};

/* Looks it up in a file like /proc/kallsyms.  False: the kernel does not tell its addresses. */
bool scheduler_find(struct scheduler *ret, const char *path);

/* Takes the kernel frames out of a sample that lie further in than the scheduler. */
void scheduler_cut(const struct scheduler *scheduler, struct sample *sample);
