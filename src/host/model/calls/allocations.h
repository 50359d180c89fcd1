/*
 * Memory: where it was allocated, and what is not freed at the end.  A site is a call stack where
 * records have one, and a function.  If allocations were sampled, the numbers are estimates
 * (allocations.c).
 *
 * A block counts as freed from the beginning of the freeing call, as allocated from the end of its
 * call: so a block that one thread frees and another gets at once is never confused.
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"

struct allocation_site {
	const struct model_process *process;
	const struct trace_function *function;
	const struct model_thread *thread; /* if threads are distinguished */
	uint32_t stack;                    /* STACK_NONE: without one */
	enum stack_end stack_end;
	uint64_t begin_ns;              /* of its first call */
	uint64_t records;               /* the records behind the numbers */
	double calls, bytes;            /* whole numbers unless estimated */
	double live_blocks, live_bytes; /* not freed */
};

/* A block that is allocated when its call ends. */
struct pending_block {
	uint64_t end_ns, address, size;
	uint32_t site, process;
};

struct allocations {
	struct allocation_site *sites;
	uint32_t site_count;
	struct row_index by_site;
	struct table blocks;           /* (address, process): site, size */
	struct pending_block *pending; /* a heap, the next one on top */
	size_t pending_count, pending_room;
	uint64_t *outer_end_ns; /* by thread: the end of the call that others may be inside */
	uint64_t strangers;     /* freed, but allocated before the recording */
	uint64_t sample;        /* bytes between samples; 0: every call is recorded */
	bool is_by_thread;      /* sites of different threads are different; set it after
				   allocations_init() */
};

int allocations_init(struct allocations *ret, const struct model *model) MUST_CHECK;
/* Ignores calls other than allocations.  0 or -ENOMEM. */
int allocations_add(struct allocations *allocations, const struct call *call) MUST_CHECK;
/* After the last call: by bytes that are out, then by bytes. */
int allocations_finish(struct allocations *allocations) MUST_CHECK;
void allocations_done(struct allocations *allocations);
