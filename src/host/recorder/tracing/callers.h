/*
 * The stacks of one process's traced calls, for a collector: gives them numbers as to the stacks of
 * samples, and determines how complete each is.  On the collector's thread.
 */
#pragma once

#include "host/collect/collect.h"
#include "host/recorder/base/programs.h"
#include "host/recorder/tracing/call_stacks.h"

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
