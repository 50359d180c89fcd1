/*
 * Traces one process into a recording: session, rings and collector, in the right order.
 *
 *   tracing_new, tracing_start, (tracing_check now and then), tracing_pause, tracing_start, ...,
 *   tracing_finish, tracing_free
 */
#pragma once

#include "host/collect/collect.h"
#include "host/process/stat.h"
#include "host/recorder/programs.h"
#include "host/session/session.h"
#include "host/session/trace.h"

struct device_windows;

struct tracing_options {
	struct session_options session; /* its trace is filled in */
	struct trace_options trace;
	struct device_windows *windows; /* for readings of devices; NULL: none */
};

struct tracing;

/* Makes memory, and begins the process in the recording; changes nothing in the target.  What the
 * options point to must outlive it. */
int tracing_new(struct tracing **ret, struct programs *programs, pid_t pid,
		const struct tracing_options *options, struct err *err) MUST_CHECK;
void tracing_free(struct tracing *tracing);

/* Attaches and starts tracing. */
int tracing_start(struct tracing *tracing, struct err *err) MUST_CHECK;

/* Instead: a trace for the session of another owner (session_options.trace).  It traces while that
 * session lasts, which must be over before tracing_finish(). */
const struct trace *tracing_lend(struct tracing *tracing);

/* Detaches; the recorded data stays.  The list names what stayed in the target. */
int tracing_pause(struct tracing *tracing, bool unload, struct session_left *ret_left,
		  struct err *err) MUST_CHECK;

/* 0 while the file can be written.  If the process executes another program, attaches to that: it
 * takes a few milliseconds, and several calls. */
int tracing_check(struct tracing *tracing, struct err *err) MUST_CHECK;

/* Drains the rings, unless it gives up; totals are final then. */
int tracing_finish(struct tracing *tracing, bool gives_up, struct err *err) MUST_CHECK;

pid_t tracing_pid(const struct tracing *tracing);
/* Readable when the process has ended. */
int tracing_pidfd(const struct tracing *tracing);
bool tracing_has_ended(const struct tracing *tracing);
/* Has POLLRDHUP when tracing_check() is due; -1: nothing is attached by tracing_start(). */
int tracing_socket(const struct tracing *tracing);
/* The session of tracing_start(), for its warnings and tools. */
const struct session *tracing_session(const struct tracing *tracing);

/* Is an attach to another program in progress?  Then tracing_check() should be called often. */
bool tracing_is_following(const struct tracing *tracing);
/* How many programs have been attached to by that. */
unsigned tracing_programs(const struct tracing *tracing);
/* Why its current program is not recorded; NULL: it is. */
const struct err *tracing_unfollowed(const struct tracing *tracing);
/* Has it ended under another name than at the attach?  It may have executed another program that
 * was not seen. */
bool tracing_has_other_name(const struct tracing *tracing, struct process_stat *ret);
/* Has it closed the agent's descriptors?  Nothing is recorded from then on. */
bool tracing_is_cut_off(const struct tracing *tracing);

/* How often the program has changed its rights, and for how long it was not traced because of
 * that. */
struct tracing_changes {
	unsigned count;
	uint64_t untraced_ns;
	bool is_out; /* it is not traced now */
};
void tracing_count_changes(const struct tracing *tracing, struct tracing_changes *ret);

/* Bits of the selected domains that the target has nothing of. */
uint32_t tracing_absent(const struct tracing *tracing);
/* Bits of those among them that another tool, such as a profiler, holds. */
uint32_t tracing_held(const struct tracing *tracing);
/* Why a domain is not traced, or not fully, where that is known; NULL. */
const char *tracing_note(const struct tracing *tracing, unsigned domain);
/* A note for the end of the session, by its number, below TRACE_NOTES; NULL. */
const char *tracing_end_note(const struct tracing *tracing, unsigned note);

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

void tracing_totals(const struct tracing *tracing, struct tracing_totals *ret);
/* Adds the totals of another process. */
void tracing_totals_add(struct tracing_totals *to, const struct tracing_totals *more);
