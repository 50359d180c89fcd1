/*
 * What the files of the node part share.
 */
#pragma once

#include "host/fleet/channel/channel.h"
#include "host/fleet/find/found_ranks.h"
#include "host/fleet/message.h"
#include "host/fleet/node/rank_queue.h"
#include "host/fleet/request.h"

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
