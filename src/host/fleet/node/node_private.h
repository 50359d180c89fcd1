/*
 * What the files of the node part share.
 */
#pragma once

#include "host/fleet/channel/channel.h"
#include "host/fleet/find/found_ranks.h"
#include "host/fleet/message.h"
#include "host/fleet/request.h"
#include "shared/base/macros.h"

#include <pthread.h>
#include <stdbool.h>

struct rank_queue;

/* Works on the rank with this index.  Its result counts only if rank_queue_finish() returns
 * true. */
typedef void rank_work(void *context, struct rank_queue *queue, size_t index);

enum rank_phase { PHASE_WAITING, PHASE_WORKING, PHASE_FINISHED, PHASE_STUCK };

struct rank_item {
	enum rank_phase phase;
	uint64_t begin_ns;
};

/* Works on each rank, one after the other, on a thread of its own.  Reading a hanging process may
 * hang as well: an item that takes too long is left to its thread, and another thread goes on with
 * the next rank. */
struct rank_queue {
	pthread_mutex_t lock; /* guards what follows */
	rank_work *work;
	void *context;
	struct rank_item *items;
	size_t count, next, left; /* left: neither finished nor stuck */
	uint64_t limit_ns;        /* for one rank */
	int changed;              /* an eventfd: an item has finished */
	bool is_stopping;
};

/* 0 or -errno.  Never freed, as a thread may be stuck in it: for a process that ends soon. */
int rank_queue_start(struct rank_queue **ret, size_t count, uint64_t limit_ns, rank_work *work,
		     void *context) MUST_CHECK;

/* Called by the work at its end: false if it came too late.  After true the lock is held, so that
 * the result is stored as a whole; rank_queue_release() releases it. */
bool rank_queue_finish(struct rank_queue *queue, size_t index);
void rank_queue_release(struct rank_queue *queue);

/* Called now and then: gives up items that take too long.  Returns how many are left. */
size_t rank_queue_look(struct rank_queue *queue);
/* Begins no more items. */
void rank_queue_stop(struct rank_queue *queue);
/* After the last: did it take too long, or never begin? */
bool rank_queue_is_missing(struct rank_queue *queue, size_t index);

/* Shows by stdin whether home still wants the node part.  Home sends a line at once; if stdin ends
 * after that, the node part must stop, or home has died.  Launchers that forward nothing end it
 * before: then only the time limit counts. */
struct lifeline {
	int fd;
	bool is_greeted; /* home's line has come */
	bool has_ended;
};

struct node {
	struct node_request request;
	const char *version;
	struct channel channel;
	struct lifeline lifeline;
	struct found_ranks ranks;
	struct err trouble; /* why there are no ranks */
	uint64_t until_ns;  /* when it ends in any case */
	struct frame_list *frames;
};

/* Works on each rank; returns when all are done, given up, or it must stop.  The queue shows which
 * are missing; NULL: no memory. */
struct rank_queue *node_visit(struct node *node, size_t count, uint64_t limit_ns, rank_work *work,
			      void *context);
/* Waits for stdin or another descriptor (-1: none), until that time.  True: that one is
 * readable. */
bool lifeline_wait(struct lifeline *lifeline, int other, uint64_t until_ns);
/* Home has requested the end, or the time is over. */
bool node_shall_stop(struct node *node);

/* Home's name for it, else its own. */
const char *node_name(const struct node *node);

/* Sends the state of a rank. */
void node_tell_state(struct node *node, size_t rank, enum rank_state state, const char *reason);
/* The state for this error. */
void node_tell_error(struct node *node, size_t rank, const struct err *err);
/* For a rank that the queue has not finished. */
void node_tell_missing(struct node *node, size_t rank);
void node_note(struct node *node, const char *format, ...) PRINTF_LIKE(2, 3);

/* Sends all facts for ps about one rank, or, without is_whole, those that cost nothing. */
void node_describe(struct node *node, size_t rank, bool is_whole);

/* The actions, with the ranks found. */
void node_ps(struct node *node);
void node_dump(struct node *node);
void node_record(struct node *node);
void node_top(struct node *node);
