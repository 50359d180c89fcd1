/*
 * The memory of launches.c: questions in lists, one list a stream, in one piece under one lock.
 */
#pragma once

#include "target/domains/amd/hip/launches.h"

#define POOL_MAX    65536u
#define STREAMS_MAX 256u
#define KERNELS_MAX 8192u
#define NOBODY      0u

struct question {
	struct launch launch;
	uint64_t number;       /* in the order of all questions */
	uint32_t older, newer; /* of the same stream */
};

/* Questions from one stream, or from one thread where the call names no stream. */
struct source {
	uint64_t key;
	uint64_t queue; /* as launches.c numbers them; 0: not known yet */
	uint64_t last;  /* the number of its last question */
	bool is_doubtful;
	uint32_t oldest[LAUNCH_KINDS], newest[LAUNCH_KINDS];
};

struct kernel {
	uint64_t function; /* and its age */
	uint64_t name;
};

struct launch_pool {
	uint64_t holder;        /* of the lock: its thread, and when; 0: nobody */
	uint64_t seal, seal_of; /* where his is, and who stored that */
	uint64_t awaited;       /* a holder that somebody has waited for in vain */
	uint64_t last_number;
	uint32_t source_count;
	bool has_graphs;
	uint16_t name_age; /* names of functions that were learned before are forgotten */
	uint32_t free;     /* linked by newer */
	uint32_t used;
	uint32_t waiting; /* questions; read without the lock, too */
	struct source sources[STREAMS_MAX];
	struct kernel kernels[KERNELS_MAX];
	struct question items[POOL_MAX]; /* 0 is nobody */
};

/* An empty pool for a session; -ENOMEM, -EBUSY where threads do not come out of the last eight. */
int pool_open(void) MUST_CHECK;
void pool_close(void);

/* On the stack of who holds the lock, for as long as he does: by it a thread that has left by
 * longjmp is told from one that a signal has interrupted. */
typedef volatile uint64_t pool_seal;

/* The pool, locked; NULL when that would take long.  What is on the way through a signal handler or
 * was left half done by a thread that is no more is never seen. */
struct launch_pool *pool_lock(pool_seal *seal);
void pool_unlock(struct launch_pool *pool, pool_seal *seal);

/* No question waits for its report, as it seems. */
bool pool_is_empty(void);

/* None of its questions does. */
bool source_is_idle(const struct source *source);

/* Functions may have other names from now on. */
void pool_forget_names(struct launch_pool *pool);

/* The source with this key; makes one when asked to, in place of one that has waited longest for a
 * question.  NULL: there is none. */
struct source *pool_source(struct launch_pool *pool, uint64_t key, bool makes);

/* Adds a question; false when there is no room. */
bool pool_append(struct launch_pool *pool, struct source *source, enum launch_kind kind,
		 const struct launch *launch);
void pool_drop(struct launch_pool *pool, struct source *source, enum launch_kind kind,
	       uint32_t slot);
