/*
 * Traces one process into a recording: session, rings and collector, in the right order.
 *
 *   tracing_new, tracing_start, (tracing_check now and then), tracing_pause, tracing_start, ...,
 *   tracing_finish, tracing_free
 */
#pragma once

#include "host/collect/collect.h"
#include "host/collect/facts.h"
#include "host/recorder/base/programs.h"
#include "host/session/register_libraries.h"
#include "host/session/session.h"
#include "host/session/trace.h"

struct call_stacks;
struct callers;
struct device_windows;

struct tracing_options {
	struct session_options session; /* its trace is filled in */
	struct trace_options trace;
	struct device_windows *windows; /* for readings of devices; NULL: none */
};

/* How often the program has changed its rights, and for how long it was not traced because of
 * that. */
struct tracing_changes {
	unsigned count;
	uint64_t untraced_ns;
	bool is_out; /* it is not traced now */
};

/* Work of devices that is missing in the recording, so far, and records that were corrected. */
struct work_left {
	uint32_t cut;       /* not done at the detach */
	uint32_t lost;      /* too much at once */
	uint32_t unseen;    /* its completion was never queried */
	uint64_t turned;    /* their end was before their beginning */
	uint32_t uncounted; /* not counted, where kernels are counted */
};

struct tracing_totals {
	uint64_t processes; /* traced ones; one that executes another program may count again */
	uint64_t missed;    /* descendants that ended before limpet had attached */
	struct collect_totals collected;
	struct work_left left;
	struct trace_words words;                     /* of the target's import entries */
	struct trace_queues queues;                   /* with and without device times */
	uint64_t syscalls_before, syscalls_under_way; /* see recorded_syscalls */
};

/* Written by tracing*.c only. */
struct tracing {
	pid_t pid;
	int pidfd;
	struct trace_options given;
	struct device_windows *windows;
	struct session_options options;
	/* Also for the session of another owner, instead of tracing_start(): it traces while that
	 * session lasts, which must be over before tracing_finish(). */
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
	struct session session; /* of tracing_start() */

	/* Of the process's earlier programs, before exec. */
	unsigned executed; /* how many programs it has begun since */
	struct tracing_totals earlier;
	uint32_t found_before; /* domains found in them */
	bool is_cut_off;       /* it has closed the agent's descriptors, and goes on without it */
	bool is_following;     /* it runs another program, not attached yet: check often */
	uint64_t follow_until_ns;
	/* Changes of rights, before which the agent detached. */
	struct tracing_changes changes;
	bool is_returning;           /* not attached again yet */
	uint64_t left_ns, return_ns; /* detached since; next attach not before */
	struct identity left;        /* the program that the agent detached from */
	char name[32];               /* of the program attached last */
	struct err unfollowed;       /* why not attached, so far; code 0: no such program */
};

/* Makes memory, and begins the process in the recording; changes nothing in the target.  What the
 * options point to must outlive it. */
int tracing_new(struct tracing **ret, struct programs *programs, pid_t pid,
		const struct tracing_options *options, struct err *err) MUST_CHECK;
void tracing_free(struct tracing *tracing);

/* Attaches and starts tracing. */
int tracing_start(struct tracing *tracing, struct err *err) MUST_CHECK;

/* Detaches; the recorded data stays.  The list names what stayed in the target. */
int tracing_pause(struct tracing *tracing, bool unload, struct session_left *ret_left,
		  struct err *err) MUST_CHECK;

/* 0 while the file can be written.  If the process executes another program, attaches to that: it
 * takes a few milliseconds, and several calls. */
int tracing_check(struct tracing *tracing, struct err *err) MUST_CHECK;

/* Drains the rings, unless it gives up; totals are final then. */
int tracing_finish(struct tracing *tracing, bool gives_up, struct err *err) MUST_CHECK;

bool tracing_has_ended(const struct tracing *tracing);
/* Why its current program is not recorded; NULL: it is. */
const struct err *tracing_unfollowed(const struct tracing *tracing);
/* Has it ended under another name than at the attach?  It may have executed another program that
 * was not seen. */
bool tracing_has_other_name(const struct tracing *tracing, struct process_stat *ret);
void tracing_count_changes(const struct tracing *tracing, struct tracing_changes *ret);

/* Bits of the selected domains that the target has nothing of. */
uint32_t tracing_absent(const struct tracing *tracing);

void tracing_totals(const struct tracing *tracing, struct tracing_totals *ret);
/* Adds the totals of another process. */
void tracing_totals_add(struct tracing_totals *to, const struct tracing_totals *more);
