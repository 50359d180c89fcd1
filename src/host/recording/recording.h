/*
 * Writing a .limpet file.  It grows chunk by chunk, each written with one system call: however
 * limpet is killed, what was written before is readable.  Any thread may call; each call hands over
 * whole chunks, which a thread of the recording writes at once: a slow disk delays no caller.
 *
 * When the file cannot grow (full disk, a limit, an I/O error) the next call fails with the reason,
 * the file is cut back to its last whole chunk, and all later calls fail alike.  RLIMIT_FSIZE is
 * such a failure only where SIGXFSZ is ignored.
 */
#pragma once

#include "host/core/err.h"
#include "host/recording/pack_samples.h"

#include <stdbool.h>
#include <sys/types.h>

struct recording;

/* Makes the file.  An existing recording is replaced when the first record or sample is written,
 * and stays if there never is one; another file is refused.  A pipe is allowed. */
int recording_create(const char *path, struct recording **ret, struct err *err) MUST_CHECK;

/* In an empty file made for it; the path is for messages.  Owns the descriptor also when this
 * fails. */
int recording_create_in(int file, const char *path, struct recording **ret,
			struct err *err) MUST_CHECK;

/* "limpet-PID.limpet", or with a number more where there is such a file.  The file is created,
 * which reserves the name; returns its descriptor, which is written to, or -errno. */
int recording_unused_path(pid_t pid, char *ret, size_t room, struct err *err) MUST_CHECK;

/* One item in a chunk of its own: CHUNK_SESSION, once and first of all; CHUNK_THREAD, a known
 * thread by another name; CHUNK_DROPS; CHUNK_SYSCALLS. */
int recording_item(struct recording *recording, enum chunk_kind kind, const void *item,
		   struct err *err) MUST_CHECK;

/* A list of a process: CHUNK_MODULES, all that it has mapped now, which a later list replaces;
 * CHUNK_FILES, CHUNK_VARIABLES and CHUNK_COUNTERS, once and before its records. */
int recording_list(struct recording *recording, enum chunk_kind kind, const struct list_head *which,
		   const void *items, struct err *err) MUST_CHECK;

/* Fill in all but the number, which these assign. */
int recording_process(struct recording *recording, struct recorded_process *process,
		      struct err *err) MUST_CHECK;
int recording_thread(struct recording *recording, struct recorded_thread *thread,
		     struct err *err) MUST_CHECK;

/* More entries of a process's table; the number of the first is filled in. */
int recording_functions(struct recording *recording, struct list_head *which,
			const struct trace_function *functions, struct err *err) MUST_CHECK;

/* At the start, at the end, and now and then, so that a recording that is cut has two. */
int recording_clock(struct recording *recording, struct err *err) MUST_CHECK;

/* Packed records, behind RECORDS_HEAD_BYTES that this fills in. */
int recording_records(struct recording *recording, const struct records_head *head,
		      struct bytes *payload, struct err *err) MUST_CHECK;

/* Samples and their tables: payloads made by pack_samples.h. */
int recording_samples(struct recording *recording, enum chunk_kind kind,
		      const struct bytes *payload, struct err *err) MUST_CHECK;

/* More metrics; the number of each is filled in. */
int recording_metrics(struct recording *recording, struct recorded_metric *metrics, uint32_t count,
		      struct err *err) MUST_CHECK;
/* Windows of metrics that are known, in the order of their ends for each. */
int recording_windows(struct recording *recording, const struct recorded_window *windows,
		      uint32_t count, struct err *err) MUST_CHECK;

/* Was there an earlier recording of its name?  Then an empty one is removed by itself. */
bool recording_begins_beside(const struct recording *recording);

/* The size of the file: of all chunks so far, or of those that could be written. */
uint64_t recording_size(struct recording *recording);

/* Writes the last clock and the end (NULL: neither), and closes the file; only freeing remains.
 * `ret`, set also when it fails: its contents. */
int recording_end(struct recording *recording, const struct recorded_end *end,
		  struct recorded_contents *ret, struct err *err) MUST_CHECK;

/* Writes the last clock and the end, and closes.  Frees the recording also when it fails. */
int recording_close(struct recording *recording, const struct recorded_end *end,
		    struct err *err) MUST_CHECK;

/* Without an end: what is written stays. */
void recording_abandon(struct recording *recording);

/* All clocks now; the tightest of a few tries. */
void clock_now(struct clock_point *ret);
