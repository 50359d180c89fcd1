/*
 * Private to the files of the live store.
 */
#pragma once

#include "host/core/table.h"
#include "host/live/live.h"
#include "host/recorder/base/code_list.h"

#include <pthread.h>
#include <stdatomic.h>

/* The part that is replaced when it is full. */
struct live_tables {
	struct model *model; /* its processes stay */
	size_t thread_room;
	struct table thread_numbers; /* (process, tid) */
	struct table thread_owners;  /* (tid, 0): the process that had it last */
	struct table frame_numbers;  /* (code, version and is_return, address) */
	struct table stack_numbers;  /* (caller, frame) */
};

/* Samples in the order of their arrival, with room for the maximum: the array does not move while a
 * reader holds a reference. */
struct live_kept {
	atomic_uint refs;
	struct recorded_sample items[];
};

/* The readers' copy, which follows the tables.  Only what was added since the last time is copied
 * while writers wait; adding up and printing run in parallel. */
struct live_view {
	atomic_uint refs;
	struct model *model; /* its processes are those of the tables */
	unsigned generation; /* of the tables that it follows */
	uint64_t renames;    /* of threads, that it has seen */
	size_t thread_room;
	struct table threads;   /* (tid, 0): the number of the last thread that had it */
	struct live_kept *kept; /* the samples themselves are not copied */
	size_t kept_count;
	uint64_t late_ns;   /* the maximum delay of samples after later ones */
	uint64_t forgotten; /* samples dropped before those */
	size_t named_count; /* frames whose names were requested */
	/* All stacks, without metrics: from the root, and from the innermost function. */
	struct call_tree trees[2];
};

struct live {
	pthread_mutex_t reading;   /* guards the view; acquired before the other lock */
	struct live_view *view;    /* NULL before the first reading */
	pthread_mutex_t lock;      /* of all that follows */
	pthread_cond_t is_unasked; /* no writer of samples waits for the lock */
	atomic_uint asking;        /* so many do */
	pid_t pid;
	struct live_limits limits;
	struct live_counts counts;
	struct code_list *codes;
	struct live_tables tables;
	unsigned generation; /* of the tables: numbers of an earlier one mean something else */
	uint64_t renames;    /* of threads */
	struct live_kept *kept;
	size_t kept_count;
	uint64_t latest_ns, late_ns; /* the latest end; the maximum delay of others after it */
	size_t stale_count;          /* samples dropped since the tables were made */
	struct table processes;      /* (pid, 0): the number of the program that it runs now */
	unsigned language;
	bool full_paths;
	bool names_on_request;
	uint64_t followed_ns;    /* when the names of generated code were read, if so */
	pthread_cond_t is_added; /* a sample, or: */
	bool is_closed;
	struct recorded_frame frames[STACK_DEPTH_MAX];
};

/* A writer of samples comes first: live_lock_later(), for readers, lets a waiting writer pass. */
void live_lock(struct live *live);
void live_lock_later(struct live *live);
void live_unlock(struct live *live);

struct live_kept *live_kept_new(size_t room); /* NULL: no memory */
void live_kept_unref(struct live_kept *kept);

/* Empty ones; -ENOMEM. */
int live_tables_init(struct live_tables *tables) MUST_CHECK;
void live_tables_done(struct live_tables *tables);

/* Each returns the number of an existing or new entry.  0 or -ENOMEM. */
int live_frame(struct live *live, const struct recorded_frame *frame, uint32_t *ret) MUST_CHECK;
int live_stack(struct live *live, uint32_t caller, uint32_t frame, uint32_t *ret) MUST_CHECK;
int live_thread(struct live *live, uint32_t process, pid_t tid, const char *name,
		uint32_t *ret) MUST_CHECK;
/* One more thread of a model, with the next number. */
int live_thread_add(struct model *model, size_t *room, const struct model_process *process,
		    pid_t tid, const char *name) MUST_CHECK;

/* Notes the time of a new sample. */
static inline void live_note_time(struct live *live, uint64_t time_ns)
{
	live->latest_ns = MAX(live->latest_ns, time_ns);
	live->late_ns = MAX(live->late_ns, live->latest_ns - time_ns);
}

/* Drops the oldest samples, until there is room for one more with a deep stack. */
int live_forget(struct live *live) MUST_CHECK;

/* For one reader at a time, without the lock: copies what was added since the last time, and
 * resolves missing names.  0 or -ENOMEM. */
int live_view_update(struct live *live) MUST_CHECK;
/* As code_list_name(), with the lock. */
int live_frame_names(struct live *live, const struct sample_frame *frame, bool wants_lines,
		     struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count,
		     bool *ret_is_named) MUST_CHECK;
