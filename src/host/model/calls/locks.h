/*
 * Time waited, by lock and by the thread that had it.
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"
#include "host/model/statistics.h"

struct lock_row {
	const struct model_process *process;
	const struct trace_function *function; /* the first that waited for it */
	uint64_t object;
	int32_t owner; /* 0: not known */
	struct statistics statistics;
};

/* Zero is empty. */
struct locks {
	struct lock_row *rows;
	uint32_t count;
	struct row_index by_lock; /* (object, process and owner) */
};

/* Ignores calls other than of locks.  0 or -ENOMEM. */
int locks_add(struct locks *locks, const struct call *call) MUST_CHECK;
/* By time. */
void locks_sort(struct locks *locks);
void locks_done(struct locks *locks);
