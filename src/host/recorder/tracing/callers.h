/*
 * The stacks of one process's traced calls, for a collector: gives them numbers as to the stacks of
 * samples, and determines how complete each is.  On the collector's thread.
 */
#pragma once

#include "host/collect/collect.h"
#include "host/recorder/base/programs.h"

/* Python stacks of the process: finds the states of its threads, and resolves frames. */
struct call_stacks;

/* Searches for a Python, and repeats that later where there is none yet.  `whose`: "launches", for
 * notes; must stay valid.  NULL: no memory. */
struct call_stacks *call_stacks_new(pid_t pid, const char *whose);
void call_stacks_free(struct call_stacks *stacks);
/* Threads read their frames by a system call that a filter may kill for: until allowed, they get no
 * state. */
void call_stacks_set_allowed(struct call_stacks *stacks, bool is_allowed);
/* The functions for a collector. */
struct collect_stacks call_stacks_source(struct call_stacks *stacks);

struct callers;

/* Reads the process's mappings, and makes the unwind tables that are missing.  `process`: its
 * number in the recording; `stacks`: the reader of the Python whose frames come with stacks, which
 * must outlive the callers; NULL: none. */
int callers_new(struct callers **ret, struct programs *programs, pid_t pid, uint32_t process,
		struct call_stacks *stacks, struct err *err) MUST_CHECK;
void callers_free(struct callers *callers);

const struct space *callers_space(const struct callers *callers);
/* The functions for a collector. */
struct collect_callers callers_source(struct callers *callers);

/* After the last stack: writes those that are not in the file yet. */
int callers_finish(struct callers *callers, struct err *err) MUST_CHECK;
