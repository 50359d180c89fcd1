/*
 * The memory of launches.c: lists of questions, one list per stream, in one mapping under one lock.
 */
#pragma once

#include "target/amd/hip/launches.h"

#define POOL_MAX    65536u
#define STREAMS_MAX 256u
#define KERNELS_MAX 8192u
#define NO_SLOT     0u

struct question {
	struct launch launch;
	uint64_t number;       /* in the order of all questions */
	uint32_t older, newer; /* neighbours in the stream's list */
};

/* Questions from one stream, or from one thread if the call names no stream. */
struct source {
	uint64_t key;
	uint64_t queue; /* as numbered by launches.c; 0: unknown */
	uint64_t last;  /* number of its last question */
	bool is_doubtful;
	uint32_t oldest[LAUNCH_KINDS], newest[LAUNCH_KINDS];
};

struct kernel {
	uint64_t function; /* function address and age */
	uint64_t name;
};

struct launch_pool {
	uint64_t holder;        /* lock: the holder's thread and time; 0: free */
	uint64_t seal, seal_of; /* address of the holder's seal, and the holder that stored it */
	uint64_t awaited;       /* a holder for which a thread has waited in vain */
	uint64_t last_number;
	uint32_t source_count;
	bool has_graphs;
	struct launch graph; /* the last launch of a graph */
	uint16_t name_age;   /* invalidates all names of functions when it changes */
	uint32_t free;       /* free list, linked by `newer` */
	uint32_t used;
	uint32_t waiting; /* number of questions; also read without the lock */
	struct source sources[STREAMS_MAX];
	struct kernel kernels[KERNELS_MAX];
	struct question items[POOL_MAX]; /* index 0 is NO_SLOT */
};

/* Makes an empty pool for a session; -ENOMEM, or -EBUSY if threads still hold eight old ones. */
int pool_open(void) MUST_CHECK;
void pool_close(void);

/* Lies on the stack of the lock's holder: distinguishes a holder that left by longjmp from one that
 * was interrupted by a signal. */
typedef volatile uint64_t pool_seal;

/* Locks and returns the pool; NULL if that would take long. A half-finished change, by an
 * interrupted or an ended thread, is never visible. */
struct launch_pool *pool_lock(pool_seal *seal);
void pool_unlock(struct launch_pool *pool, pool_seal *seal);

/* True if no question seems to wait for its report. */
bool pool_is_empty(void);

/* True if no question of this source waits. */
bool source_is_idle(const struct source *source);

/* Forgets learned names: functions may have other names from now on. */
void pool_forget_names(struct launch_pool *pool);

/* Finds the source with this key; `makes` adds it, in place of one with the oldest last question.
 * NULL: none. */
struct source *pool_source(struct launch_pool *pool, uint64_t key, bool makes);

/* Adds a question; false when there is no room. */
bool pool_append(struct launch_pool *pool, struct source *source, enum launch_kind kind,
		 const struct launch *launch);
void pool_drop(struct launch_pool *pool, struct source *source, enum launch_kind kind,
	       uint32_t slot);
