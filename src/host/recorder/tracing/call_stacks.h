/*
 * Python stacks of one process, for a collector: finds the states of its threads, and resolves
 * frames.
 */
#pragma once

#include "host/collect/collect.h"
#include "host/interpreter/interpreter.h"

struct call_stacks;

/* Searches for a Python, and repeats that later where there is none yet.  `whose`: "launches", for
 * notes; must stay valid.  NULL: no memory. */
struct call_stacks *call_stacks_new(pid_t pid, const char *whose);
void call_stacks_free(struct call_stacks *stacks);

/* Threads read their frames by a system call that a filter may kill for: until allowed, they get no
 * state. */
void call_stacks_set_allowed(struct call_stacks *stacks, bool is_allowed);

/* The process's Python; NULL: none.  On the collector's thread; may change later. */
struct interpreter *call_stacks_python(struct call_stacks *stacks);

/* The functions for a collector. */
struct collect_stacks call_stacks_source(struct call_stacks *stacks);
