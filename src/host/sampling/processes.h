/*
 * The processes that a sampler follows, each with its address space.
 */
#pragma once

#include "host/core/err.h"
#include "host/sampling/java_code.h"
#include "host/unwind/space.h"

#include <stdbool.h>

struct process_entry {
	pid_t pid;
	int pidfd; /* -1: it was gone already */
	struct space *space;
	struct java_code java;
	uint64_t java_looked_ns; /* when its code was looked at last */
	bool is_unread;          /* its mappings are its parent's still */
	unsigned round;          /* counts up */
	unsigned retried;        /* in which round the mappings were read again for a stack */
	unsigned patience;       /* so many rounds must pass before they are read again */
};

struct processes {
	struct process_entry *items;
	size_t count, room;
};

int processes_add(struct processes *processes, pid_t pid, struct err *err) MUST_CHECK;
/* The one that was added last is not followed after all. */
void processes_drop_last(struct processes *processes);
/* NULL: not followed. */
struct process_entry *processes_find(struct processes *processes, pid_t pid);
/* A child: its space is its parent's until it can be read.  NULL: no memory. */
struct process_entry *processes_add_child(struct processes *processes, pid_t pid, pid_t parent);
/* Reads the space of a child for the first time; nothing for others. */
void process_freshen(struct process_entry *process);
/* Reads the mappings again for a stack that did not fit; false: nothing new was there.  Rarer and
 * rarer where that does not help. */
bool process_retry(struct process_entry *process);
/* It executed anew: all that was mapped is gone. */
void process_forget(struct process_entry *process);
void processes_begin_round(struct processes *processes);
bool process_has_ended(const struct process_entry *process);
/* Those that have ended stay known, without their descriptors. */
void processes_let_go_of_ended(struct processes *processes);
bool processes_have_ended(const struct processes *processes);
void processes_done(struct processes *processes);
