/*
 * The processes that a sampler follows, each with its address space.
 */
#pragma once

#include "host/sampling/generated_code.h"
#include "host/sampling/interpreter_stacks.h"
#include "host/sampling/sampler.h"
#include "host/unwind/space.h"

#define FOLLOWED_JAVA_NS 100000000ull /* between readings of code that a Java compiled */

struct followed {
	pid_t pid;
	int pidfd;               /* -1: it has ended, or no descriptor was available */
	bool has_ended;          /* as last checked */
	struct space *space;     /* never NULL; empty where nothing was readable */
	bool is_unread;          /* the space is still a copy of its parent's, or empty */
	uint64_t looked_ns;      /* when its mappings were last read */
	uint64_t retry_pause_ns; /* pause until they are read again for unknown code */
	uint64_t renewed_ns;     /* when it got new events after an exec; sampler "copy" */
	struct generated_code generated;
	uint64_t generated_ns;           /* when that was last read */
	bool is_owed_rules;              /* that was too early */
	bool was_interpreter_sought;     /* in the present mappings */
	struct interpreter *interpreter; /* NULL: none is known */
	/* For the sampler "bpf". */
	bool is_muted;          /* its programs do not ask, until retry_pause_ns is over */
	bool was_seen;          /* had samples since looked_ns */
	uint64_t program_stack; /* start_stack of its program; 0: not known */
};

struct followed_set {
	struct followed **items; /* ascending pids */
	size_t count, room;
};

/* NULL: not followed. */
struct followed *followed_find(const struct followed_set *set, pid_t pid);
/* Owns the space, also when it fails.  -ENOMEM. */
int followed_add(struct followed_set *set, struct space *space, struct followed **ret) MUST_CHECK;
/* Its space is its parent's until it can be read, an empty one where the parent is not followed.  A
 * process that is followed already stays as it is.  -ENOMEM. */
int followed_add_child(struct followed_set *set, pid_t pid, pid_t parent,
		       struct followed **ret) MUST_CHECK;
void followed_remove(struct followed_set *set, pid_t pid);
void followed_done(struct followed_set *set);

/* Reads the space of a child for the first time; does nothing for others. */
void followed_read_first(struct followed *process);
/* Reads the mappings again for a stack that left known code; false: nothing is new.  Less and less
 * often where that does not help. */
bool followed_retry(struct followed *process);
/* Its mappings were read in vain: doubles the pause. */
void followed_back_off(struct followed *process);
/* Makes rules for what it has generated so far; generated.why has the reason if there are none. */
void followed_read_generated(struct followed *process);
/* The same where a Java was found before, ten times a second. */
void followed_refresh_java(struct followed *process, uint64_t now);
/* Finds its interpreter for this reader, once for the present mappings.  0: process->interpreter is
 * it, or NULL where there is none (yet); errors as those of interpreter_open(). */
int followed_find_interpreter(struct followed *process, enum interpreter_reader reader,
			      struct err *err) MUST_CHECK;
/* Lets `frames` read its interpreter from now on, which the process still owns; a limit of the
 * sampler says why functions are not seen. */
void followed_use_outside(struct followed *process, struct outside_frames *frames,
			  struct sampler *sampler);
void followed_forget_interpreter(struct followed *process);
/* After an exec: all mappings are gone. */
void followed_forget(struct followed *process);

bool followed_has_ended(struct followed *process);
bool followed_all_have_ended(const struct followed_set *set);
