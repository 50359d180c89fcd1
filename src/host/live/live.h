/*
 * The live store: recent samples, as a model that is added up like a recording.  It is bounded:
 * when it is full, the oldest samples are dropped, and soon after what only they needed.  The lists
 * of the target's code, with its names, and of the programs that it has executed are kept until
 * live_restart().
 *
 * One thread adds samples, others read, one at a time.
 */
#pragma once

#include "host/core/err.h"
#include "host/model/samples/call_tree.h"
#include "shared/wire/sample.h"

#include <sys/types.h>

struct space;
struct sampled_process;
struct sampling_options;
struct live;

/* So many of them at most. */
struct live_limits {
	size_t samples, stacks, frames, threads;
};

extern const struct live_limits live_limits_usual;

/* pid 0: every process, each from its first sample on.  limits: NULL for the usual ones. */
int live_new(struct live **ret, pid_t pid, const struct live_limits *limits,
	     struct err *err) MUST_CHECK;
void live_free(struct live *live);
/* Before the first sample: only frames of this language are kept (host/model/samples/languages.h),
 * and samples that have some; code is called by its whole path. */
void live_show(struct live *live, unsigned language, bool full_paths);

/* Before the first sample: readers get frames without names, which live_name() resolves, and
 * processes that have a number only; names of threads are read again each second. */
void live_name_on_request(struct live *live);

/* 0 or -ENOMEM.  The space is the process's as it was then. */
int live_put(struct live *live, const struct sample *sample, const struct space *space) MUST_CHECK;
/* A process is new, or has executed. */
int live_process(struct live *live, const struct sampled_process *process) MUST_CHECK;

/* All samples and processes of this sampling are added. */
void live_observe(struct live *live, struct sampling_options *sampling);

/* The parts that only grow until live_restart(). */
struct live_sizes {
	size_t processes, codes, texts;
};
void live_sizes(struct live *live, struct live_sizes *ret);

/* Starts again: drops all samples, processes, names and open files of code.  Unread samples count
 * as missed.  0 or -ENOMEM. */
int live_restart(struct live *live) MUST_CHECK;

/* Sets the present name of a thread; does nothing for one without a sample. */
void live_rename(struct live *live, pid_t tid, const char *name);

/* Samples added, and those of them dropped again. */
struct live_counts {
	uint64_t seen, forgotten;
	uint64_t ends[STACK_ENDS]; /* of all added */
};
struct live_counts live_counts(struct live *live);

/* Resolves the lines of this function, which takes longer than names.  0 or -ENOMEM. */
int live_find_lines(struct live *live, const char *function, const char *module) MUST_CHECK;

typedef int live_reader(struct model *model, void *context);

/* Resolves missing names, and passes the reader a model whose samples are those that ended from
 * `from_ns` to `until_ns` (CLOCK_MONOTONIC).  It is valid only during the call.  Samples are added
 * meanwhile, and do not wait for it.  Returns the reader's result, or -ENOMEM. */
int live_read(struct live *live, uint64_t from_ns, uint64_t until_ns, live_reader *read,
	      void *context) MUST_CHECK;

/* The same with all that ended at `from_ns` or later, in any order of arrival, and some earlier
 * ones: the reader checks their times. */
int live_read_around(struct live *live, uint64_t from_ns, live_reader *read,
		     void *context) MUST_CHECK;

/* The same with those added since the last time: *seen is their count by then, and is updated.
 * *ret_missed: how many of the new ones were dropped again. */
int live_read_new(struct live *live, uint64_t *seen, uint64_t *ret_missed, live_reader *read,
		  void *context) MUST_CHECK;

/* Waits until more samples than these were added; false: there are none, and live_close() was
 * called.  live_open() is the opposite. */
bool live_wait(struct live *live, uint64_t seen);
void live_open(struct live *live);
void live_close(struct live *live);

/* The names of a frame, and its code, as code_list_name(); texts live as long as the store. */
int live_name(struct live *live, const struct recorded_frame *frame,
	      struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count, bool *ret_is_named,
	      const char **ret_path) MUST_CHECK;

/* Every process that had a sample, the caller's to free; the number of them, 0 without memory. */
size_t live_pids(struct live *live, pid_t **ret);

/* The process of a thread; false: it had no sample. */
bool live_thread_process(struct live *live, pid_t tid, pid_t *ret);

/* For a reader: the number of a thread in the model; false: it had no sample. */
bool live_thread_number(const struct live *live, pid_t tid, uint32_t *ret);
/* The same for others: by the time it is used, it may be another thread's. */
bool live_thread_find(struct live *live, pid_t tid, uint32_t *ret);

/* For a reader: the call trees of all stacks so far, from the root and from the innermost function,
 * see call_tree_weigh(). */
struct call_tree *live_trees(struct live *live);
/* For a reader: keeps the model and its names until live_view_unref().  Only the thread that reads
 * may use them, and no sample. */
struct live_view *live_view_hold(struct live *live);
void live_view_unref(struct live_view *view);
