/*
 * What was sampled lately, as a model that is added up like a recording.  It is bounded: when it is
 * full, the oldest samples leave, and what only they needed not much later.  What stays until
 * live_restart() are the lists of the target's code, with its names, and of the programs that it
 * has executed.
 *
 * One thread gives samples, another one reads.
 */
#pragma once

#include "host/core/err.h"
#include "host/model/model.h"
#include "shared/wire/sample.h"

#include <sys/types.h>

struct space;
struct sampled_process;
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

/* 0 or -ENOMEM.  The space is the process's as it was then. */
int live_take(struct live *live, const struct sample *sample, const struct space *space) MUST_CHECK;
/* A process came, or executed anew. */
int live_process(struct live *live, const struct sampled_process *process) MUST_CHECK;

/* What only grows until live_restart(). */
struct live_sizes {
	size_t processes, codes, texts;
};
void live_sizes(struct live *live, struct live_sizes *ret);

/* Begins anew: all samples, processes, names and open files of code leave.  What has not been read
 * yet counts as missed.  0 or -ENOMEM. */
int live_restart(struct live *live) MUST_CHECK;

/* What a thread is called now; nothing for one that had no sample. */
void live_rename(struct live *live, pid_t tid, const char *name);

/* Samples that came, and those of them that have left again. */
struct live_counts {
	uint64_t seen, forgotten;
	uint64_t ends[STACK_ENDS]; /* of all that came */
};
struct live_counts live_counts(struct live *live);

/* Looks for the lines of this function, which take longer to find than names.  0 or -ENOMEM. */
int live_find_lines(struct live *live, const char *function, const char *module) MUST_CHECK;

typedef int live_reader(struct model *model, void *context);

/* Finds the names that are missing, and gives the reader a model whose samples are those that ended
 * from `from_ns` to `until_ns` (CLOCK_MONOTONIC).  Nothing of it may be kept.  Samples go on coming
 * meanwhile, and do not wait for it.  What the reader answered, or -ENOMEM. */
int live_read(struct live *live, uint64_t from_ns, uint64_t until_ns, live_reader *read,
	      void *context) MUST_CHECK;

/* The same with all that ended at `from_ns` or later, in whatever order they came, and some that
 * ended earlier: the reader looks at their times. */
int live_read_around(struct live *live, uint64_t from_ns, live_reader *read,
		     void *context) MUST_CHECK;

/* The same with those that came since the last time: *seen is how many had come by then, and is
 * moved. How many of the new ones have left again: *ret_missed. */
int live_read_new(struct live *live, uint64_t *seen, uint64_t *ret_missed, live_reader *read,
		  void *context) MUST_CHECK;

/* Every process that had a sample, the caller's to free; the number of them, 0 without memory. */
size_t live_pids(struct live *live, pid_t **ret);

/* The process that a thread belongs to; false: it had no sample. */
bool live_thread_process(struct live *live, pid_t tid, pid_t *ret);

/* The number of a thread in the model, for a reader; false: it had no sample. */
bool live_thread_number(const struct live *live, pid_t tid, uint32_t *ret);
/* The same for others: by the time it is used, it may be another thread's. */
bool live_thread_find(struct live *live, pid_t tid, uint32_t *ret);
