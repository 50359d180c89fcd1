/*
 * The stacks of one process's traced calls, for a collector: gives them numbers as to the stacks of
 * samples, and determines how complete each is.  On the collector's thread.
 */
#pragma once

#include "host/collect/collect.h"
#include "host/recorder/call_stacks.h"
#include "host/recorder/programs.h"

struct callers;

/* Reads the process's mappings, and makes the unwind tables that are missing.  `process`: its
 * number in the recording. */
int callers_new(struct callers **ret, struct programs *programs, pid_t pid, uint32_t process,
		struct err *err) MUST_CHECK;
void callers_free(struct callers *callers);

/* Sets the reader of the Python whose frames come with stacks; it must outlive the callers. */
void callers_use_python(struct callers *callers, struct call_stacks *stacks);

/* Whether the process has a Python. */
bool callers_have_python(const struct callers *callers);

/* The functions for a collector. */
struct collect_callers callers_source(struct callers *callers);

/* Where the first thread's stack ends; 0: not known. */
uint64_t callers_stack_end(const struct callers *callers);

/* After the last stack: writes those that are not in the file yet. */
int callers_finish(struct callers *callers, struct err *err) MUST_CHECK;
