/*
 * The stacks of one process's Python, for a collector: finds the states of its threads, and says
 * what frames are.
 */
#pragma once

#include "host/collect/collect.h"

struct call_stacks;

/* Looks for a Python; where there is none yet, it is looked for again.  NULL: no memory. */
struct call_stacks *call_stacks_new(pid_t pid);
void call_stacks_free(struct call_stacks *stacks);

/* What a collector calls. */
struct collect_stacks call_stacks_source(struct call_stacks *stacks);
