/*
 * Private to tracing*.c: tracing_program.c begins a program, tracing_follow.c follows to the next
 * one, tracing.c drives.
 */
#pragma once

#include "host/recorder/tracing/callers.h"
#include "host/recorder/tracing/tracing.h"

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
void tracing_note_attached(struct tracing *tracing);
