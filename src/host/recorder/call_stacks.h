/*
 * The stacks of one process's Python, for a collector: finds the states of its threads, and says
 * what frames are.
 */
#pragma once

#include "host/collect/collect.h"
#include "host/python/python.h"

struct call_stacks;

/* Looks for a Python; where there is none yet, it is looked for again.  `whose`: "launches", for
 * notes; stays.  NULL: no memory. */
struct call_stacks *call_stacks_new(pid_t pid, const char *whose);
void call_stacks_free(struct call_stacks *stacks);

/* Threads read their frames by a system call that a filter may kill for: no state is told before.
 */
void call_stacks_set_allowed(struct call_stacks *stacks, bool is_allowed);

/* What it has found; NULL.  On the collector's thread; another one after a while. */
struct python *call_stacks_python(struct call_stacks *stacks);

/* What a collector calls. */
struct collect_stacks call_stacks_source(struct call_stacks *stacks);
