/*
 * Private to tracing.c and tracing_follow.c.
 */
#pragma once

#include "host/collect/facts.h"
#include "host/recorder/call_stacks.h"
#include "host/recorder/callers.h"
#include "host/recorder/tracing.h"
#include "host/session/register_libraries.h"

struct tracing {
	pid_t pid;
	int pidfd;
	struct trace_options given;
	struct device_windows *windows;
	struct session_options options;
	struct trace trace;
	struct programs *programs;
	struct collector *collector;
	struct call_stacks *stacks; /* NULL: not requested */
	bool has_python;            /* at its beginning */
	struct callers *callers;    /* NULL: not requested */
	struct target_threads threads;
	uint32_t process; /* its number in the file */
	bool is_attached, is_finished;
	struct registers_watch watch;
	struct session session;

	/* Of the process's earlier programs, before exec. */
	unsigned executed; /* how many programs it has begun since */
	struct tracing_totals earlier;
	uint32_t found_before; /* domains found in them */
	bool is_cut_off;       /* it goes on without the agent */
	bool is_following;     /* it runs another program, not attached yet */
	uint64_t follow_until_ns;
	/* Changes of rights, before which the agent detached. */
	struct tracing_changes changes;
	bool is_returning;           /* not attached again yet */
	uint64_t left_ns, return_ns; /* detached since; next attach not before */
	struct identity left;        /* the program that the agent detached from */
	char name[32];               /* of the program attached last */
	struct err unfollowed;       /* why not attached, so far; code 0: no such program */
};

/* Begins the process's current program in the file, with a collector for the trace. */
int tracing_begin_program(struct tracing *tracing, struct err *err) MUST_CHECK;

/* Attaches to a process that has the rings already.  Threads get the address of their Python state
 * only where its filters let them read it. */
int tracing_attach(struct tracing *tracing, const struct session_options *options,
		   struct err *err) MUST_CHECK;
/* After each attach: reports what filters forbid to read. */
void tracing_heed_filters(struct tracing *tracing);

/* Notices that it executes another program, and attaches to that.  Fails only where the file cannot
 * be written. */
int tracing_follow(struct tracing *tracing, struct err *err) MUST_CHECK;

/* True when the agent is gone but the process lives; the session is closed then. */
bool tracing_note_cut(struct tracing *tracing);

/* True when the agent has detached since the program changes its rights; counts it.  Before the
 * session is closed. */
bool tracing_note_farewell(struct tracing *tracing);

/* After each attach. */
void tracing_keep_name(struct tracing *tracing);
