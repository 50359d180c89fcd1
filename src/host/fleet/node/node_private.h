/*
 * What the files of the node part share.
 */
#pragma once

#include "host/fleet/channel/channel.h"
#include "host/fleet/find/found_ranks.h"
#include "host/fleet/message.h"
#include "host/fleet/node/lifeline.h"
#include "host/fleet/node/rank_queue.h"
#include "host/fleet/request.h"

struct node {
	struct node_request request;
	const char *version;
	struct channel channel;
	struct lifeline lifeline;
	struct found_ranks ranks;
	struct err trouble; /* why there are none */
	uint64_t until_ns;  /* when it ends, whatever is going on */
	struct frame_list *frames;
};

/* Does something with each rank; returns when all are done, given up, or it shall stop.  The queue
 * tells which are missing; NULL: no memory. */
struct rank_queue *node_visit(struct node *node, size_t count, uint64_t limit_ns, rank_work *work,
			      void *context);
/* Home wants no more, or the time is over. */
bool node_shall_stop(struct node *node);

/* What home calls it, else what it calls itself. */
const char *node_name(const struct node *node);

/* What became of a rank. */
void node_tell_state(struct node *node, size_t rank, enum rank_state state, const char *reason);
/* By the error that it came to. */
void node_tell_error(struct node *node, size_t rank, const struct err *err);
/* Of one that the queue has not finished. */
void node_tell_missing(struct node *node, size_t rank);
void node_note(struct node *node, const char *format, ...) PRINTF_LIKE(2, 3);

/* All about one rank that ps tells, or, without is_whole, what costs nothing. */
void node_describe(struct node *node, size_t rank, bool is_whole);

/* What is asked for, with the ranks found. */
void node_ps(struct node *node);
void node_dump(struct node *node);
void node_record(struct node *node);
void node_top(struct node *node);
