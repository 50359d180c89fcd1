/*
 * Private to the files of the live model.
 */
#pragma once

#include "host/model/samples.h"
#include "host/model/table.h"
#include "host/recorder/samples/code_list.h"
#include "host/top/live.h"

#include <pthread.h>

/* All that leaves when it is full. */
struct live_tables {
	struct model *model; /* its processes stay */
	size_t thread_room;
	struct table thread_numbers; /* (process, tid) */
	struct table thread_owners;  /* (tid, 0): the process that had it last */
	struct table frame_numbers;  /* (code, version and is_return, address) */
	struct table stack_numbers;  /* (caller, frame) */
	size_t named_count;          /* frames that were asked for their names */
};

struct live {
	pthread_mutex_t lock; /* of all that follows */
	pid_t pid;
	struct live_limits limits;
	struct live_counts counts;
	struct code_list *codes;
	struct live_tables tables;
	struct recorded_sample *kept; /* in the order of their coming */
	size_t kept_count, kept_room;
	struct table processes; /* (pid, 0): the number of the program that it runs now */
	unsigned language;
	bool full_paths;
	struct recorded_frame frames[STACK_DEPTH_MAX];
};

/* Empty ones; -ENOMEM. */
int live_tables_init(struct live_tables *tables) MUST_CHECK;
void live_tables_done(struct live_tables *tables);

/* Each gives the number of what is there already, or is made.  0 or -ENOMEM. */
int live_frame(struct live *live, const struct recorded_frame *frame, uint32_t *ret) MUST_CHECK;
int live_stack(struct live *live, uint32_t caller, uint32_t frame, uint32_t *ret) MUST_CHECK;
int live_thread(struct live *live, uint32_t process, pid_t tid, const char *name,
		uint32_t *ret) MUST_CHECK;
/* The model's codes are those of the list. */
int live_codes(struct live *live) MUST_CHECK;

/* The older half of the samples leaves, again and again until there is room for a deep stack. */
int live_forget(struct live *live) MUST_CHECK;
