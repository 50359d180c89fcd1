/*
 * Traces and samples a live process into a .limpet file: session, rings, collector, sampler and
 * file, in the right order.  Without a session where nothing is traced: sampling needs none.
 *
 *   recorder_open, recorder_begin, (recorder_check now and then), recorder_pause, recorder_begin,
 * ..., recorder_end
 */
#pragma once

#include "host/collect/collect.h"
#include "host/process/stat.h"
#include "host/recorder/sampling.h"
#include "host/session/trace.h"

struct recorder_options {
	struct session_options session; /* its trace is filled in */
	struct trace_options trace;
	const struct sampling_options *sampling; /* NULL: no samples; then something is traced */
	const char *path;    /* of the file; removed where nothing was ever begun, and an earlier
				recording of that name stays where nothing was recorded */
	bool is_path_new;    /* the file was made for this, and is empty: */
	int new_file;        /* its descriptor, the recorder's, also when it cannot be opened */
	const char *version; /* of limpet */
	/* Further variables of the target's environment to keep in the file, for the names of what
	 * is made from it (name_rule.h); ends with NULL, may be NULL. */
	const char *const *variables;
};

struct recorder;

/* Makes memory and file; touches nothing in the target. */
int recorder_open(struct recorder **ret, pid_t pid, const struct recorder_options *options,
		  struct err *err) MUST_CHECK;

/* Attaches, and records from then on. */
int recorder_begin(struct recorder *recorder, struct err *err) MUST_CHECK;

/* Instead: what the session of somebody else is to be given (session_options.trace).  It records
 * while that session lasts, and must be over before recorder_end(). */
const struct trace *recorder_lend(struct recorder *recorder);

/* Detaches; what was recorded stays.  The list names what did not go well. */
int recorder_pause(struct recorder *recorder, bool unload, struct session_left *ret_left,
		   struct err *err) MUST_CHECK;

/* 0 while the file can be written.  Where the process executes another program, that one is
 * attached to: it takes a few milliseconds, and several calls. */
int recorder_check(struct recorder *recorder, struct err *err) MUST_CHECK;

/* Is that under way?  Then it should be called often. */
bool recorder_is_following(const struct recorder *recorder);
/* How often it has succeeded. */
unsigned recorder_programs(const struct recorder *recorder);
/* Why the program that it executes now is not recorded; NULL: it is. */
const struct err *recorder_unfollowed(const struct recorder *recorder);
/* Has it ended under a name that it did not have when it was attached to?  It may have executed
 * another program that nobody has seen. */
bool recorder_has_other_name(const struct recorder *recorder, struct process_stat *ret);
/* How often the program has changed its rights, and how long it was not traced for that. */
struct recorder_changes {
	unsigned count;
	uint64_t untraced_ns;
	bool is_out; /* it still is not */
};
void recorder_count_changes(const struct recorder *recorder, struct recorder_changes *ret);
/* Has it closed the agent's descriptors?  Nothing is recorded from there on. */
bool recorder_is_cut_off(const struct recorder *recorder);
/* Says POLLRDHUP when it is due; -1: nothing is attached. */
int recorder_socket(const struct recorder *recorder);

void recorder_totals(struct recorder *recorder, struct collect_totals *ret);
uint64_t recorder_file_bytes(struct recorder *recorder);

/* The session, for what it has to tell; NULL where nothing is traced. */
const struct session *recorder_session(const struct recorder *recorder);
/* NULL: it takes no samples. */
struct sampling *recorder_sampling(struct recorder *recorder);
/* Readable when the process has ended. */
int recorder_pidfd(const struct recorder *recorder);
/* Bits of the domains for which there is nothing in the target. */
uint32_t recorder_absent(const struct recorder *recorder);
/* Why nothing or not all of one is traced, where it is known; NULL. */
const char *recorder_note(const struct recorder *recorder, unsigned domain);
/* What has to be said at the end, by enum trace_note; NULL. */
const char *recorder_end_note(const struct recorder *recorder, unsigned note);

/* What became of the target's words of imports. */
void recorder_words(const struct recorder *recorder, struct trace_words *ret);

/* Which queues of OpenCL were given device times, where they were asked for. */
void recorder_queues(const struct recorder *recorder, struct trace_queues *ret);

/* Work of devices that is not in the recording, so far, and records that had to be mended. */
struct work_left {
	uint32_t cut;    /* not done when we left */
	uint32_t lost;   /* too much at once */
	uint32_t unseen; /* nobody asked whether they are done */
	uint64_t turned; /* their end came before their beginning */
};
struct work_left recorder_work_left(const struct recorder *recorder);

/* Takes what is left in the rings, and finds the names of what was sampled; totals are final then.
 */
int recorder_finish(struct recorder *recorder, struct err *err) MUST_CHECK;

struct recorder_outcome {
	struct collect_totals totals;     /* of what was taken from the target */
	struct recorded_contents written; /* what of it is in the file */
};

/* Finishes (not with gives_up) where that was not done, writes the end, and frees the recorder.
 * `ret` is set also when it fails. */
int recorder_end(struct recorder *recorder, bool gives_up, struct recorder_outcome *ret,
		 struct err *err) MUST_CHECK;
