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
	struct call_stacks *stacks; /* NULL: none were asked for */
	bool has_python;            /* when it was begun */
	struct callers *callers;    /* likewise */
	struct target_threads threads;
	uint32_t process; /* its number in the file */
	bool is_attached, is_finished;
	struct registers_watch watch;
	struct session session;

	/* Of programs that the process has left behind by exec. */
	unsigned executed; /* how many it has begun since */
	struct tracing_totals earlier;
	uint32_t found_before; /* domains that they had */
	bool is_cut_off;       /* it goes on without our agent */
	bool is_following;     /* it executes another program, and we are not in yet */
	uint64_t follow_until_ns;
	/* Of times when the program changed its rights, and our agent left before. */
	struct tracing_changes changes;
	bool is_returning;           /* we are not in again yet */
	uint64_t left_ns, return_ns; /* since when; not before */
	struct identity left;        /* which program the agent left */
	char name[32];               /* of the program that was attached to last */
	struct err unfollowed;       /* why not, up to now; code 0: there is no such program */
};

/* The process as it is now begins in the file, with a collector for the trace. */
int tracing_begin_program(struct tracing *tracing, struct err *err) MUST_CHECK;

/* To a process that has the rings already.  Threads are told where their Python's state is only
 * where its filters let them read it. */
int tracing_attach(struct tracing *tracing, const struct session_options *options,
		   struct err *err) MUST_CHECK;
/* After each attach: what the filters do not let be read is said. */
void tracing_heed_filters(struct tracing *tracing);

/* Notices that it executes another program, and attaches to that.  An error only where the file
 * cannot be written. */
int tracing_follow(struct tracing *tracing, struct err *err) MUST_CHECK;

/* True when the agent is gone and the process is not; the session is closed then. */
bool tracing_note_cut(struct tracing *tracing);

/* True when the agent has left since the program changes its rights; counted.  Before the session
 * is closed. */
bool tracing_note_farewell(struct tracing *tracing);

/* After each attach. */
void tracing_keep_name(struct tracing *tracing);
