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
#include "host/session/trace.h"

struct device_windows;

struct tracing_options {
	struct session_options session; /* its trace is filled in */
	struct trace_options trace;
	struct device_windows *windows; /* take readings of devices; NULL: nobody does */
};

struct tracing;

/* Makes memory, and begins the process in the recording; touches nothing in the target.  What the
 * options point to must outlive it. */
int tracing_new(struct tracing **ret, struct programs *programs, pid_t pid,
		const struct tracing_options *options, struct err *err) MUST_CHECK;
void tracing_free(struct tracing *tracing);

/* Attaches, and traces from then on. */
int tracing_start(struct tracing *tracing, struct err *err) MUST_CHECK;

/* Instead: what the session of somebody else is to be given (session_options.trace).  It traces
 * while that session lasts, which must be over before tracing_finish(). */
const struct trace *tracing_lend(struct tracing *tracing);

/* Detaches; what was recorded stays.  The list names what did not go well. */
int tracing_pause(struct tracing *tracing, bool unload, struct session_left *ret_left,
		  struct err *err) MUST_CHECK;

/* 0 while the file can be written.  Where the process executes another program, that one is
 * attached to: it takes a few milliseconds, and several calls. */
int tracing_check(struct tracing *tracing, struct err *err) MUST_CHECK;

/* Takes what is left in the rings, unless it gives up; totals are final then. */
int tracing_finish(struct tracing *tracing, bool gives_up, struct err *err) MUST_CHECK;

pid_t tracing_pid(const struct tracing *tracing);
/* Readable when the process has ended. */
int tracing_pidfd(const struct tracing *tracing);
bool tracing_has_ended(const struct tracing *tracing);
/* Says POLLRDHUP when tracing_check() is due; -1: nothing is attached by tracing_start(). */
int tracing_socket(const struct tracing *tracing);
/* The session of tracing_start(), for what it has to tell. */
const struct session *tracing_session(const struct tracing *tracing);

/* Is another program being attached to?  Then tracing_check() should be called often. */
bool tracing_is_following(const struct tracing *tracing);
/* How often that has succeeded. */
unsigned tracing_programs(const struct tracing *tracing);
/* Why the program that it executes now is not recorded; NULL: it is. */
const struct err *tracing_unfollowed(const struct tracing *tracing);
/* Has it ended under a name that it did not have when it was attached to?  It may have executed
 * another program that nobody has seen. */
bool tracing_has_other_name(const struct tracing *tracing, struct process_stat *ret);
/* Has it closed the agent's descriptors?  Nothing is recorded from there on. */
bool tracing_is_cut_off(const struct tracing *tracing);

/* How often the program has changed its rights, and how long it was not traced for that. */
struct tracing_changes {
	unsigned count;
	uint64_t untraced_ns;
	bool is_out; /* it still is not */
};
void tracing_count_changes(const struct tracing *tracing, struct tracing_changes *ret);

/* Bits of the domains for which there is nothing in the target. */
uint32_t tracing_absent(const struct tracing *tracing);
/* Bits of those among them for which somebody else, as another profiler, has what they need. */
uint32_t tracing_held(const struct tracing *tracing);
/* Why nothing or not all of one is traced, where it is known; NULL. */
const char *tracing_note(const struct tracing *tracing, unsigned domain);
/* What has to be said at the end, by the number of the note, below TRACE_NOTES; NULL. */
const char *tracing_end_note(const struct tracing *tracing, unsigned note);

/* Work of devices that is not in the recording, so far, and records that had to be mended. */
struct work_left {
	uint32_t cut;       /* not done when we left */
	uint32_t lost;      /* too much at once */
	uint32_t unseen;    /* nobody asked whether they are done */
	uint64_t turned;    /* their end came before their beginning */
	uint32_t uncounted; /* went by, where kernels are counted */
};

struct tracing_totals {
	uint64_t
		processes; /* that were traced; one that executes another program may count again */
	uint64_t missed;   /* descendants that ended before limpet had attached */
	struct collect_totals collected;
	struct work_left left;
	struct trace_words words;   /* what became of the target's words of imports */
	struct trace_queues queues; /* which queues were given device times */
	uint64_t syscalls_before, syscalls_under_way; /* see recorded_syscalls */
};

void tracing_totals(const struct tracing *tracing, struct tracing_totals *ret);
/* Adds up, of several processes. */
void tracing_totals_add(struct tracing_totals *to, const struct tracing_totals *more);
