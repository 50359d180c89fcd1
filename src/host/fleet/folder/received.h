/*
 * Recordings that nodes send, while they come.  Pieces must follow each other: behind one that is
 * missing nothing is kept, so that a file is a recording that was cut, and never one with a hole.
 */
#pragma once

#include "host/fleet/folder/fleet_folder.h"

struct received_file {
	uint32_t node;
	pid_t top;
	int fd; /* -1: nothing has come, or all */
	uint64_t bytes;
	uint64_t told_bytes; /* as long as its node says it is */
	bool is_told;        /* that it is complete */
	bool is_there;       /* its node wrote it into the folder */
	bool is_torn;        /* a piece is missing */
	int error;           /* it could not be written */
};

/* Zero, but for the folder, is none. */
struct received {
	const struct fleet_folder *folder;
	struct received_file *files;
	size_t count, room;
	struct table by_rank; /* (node, topmost pid): its index */
	uint64_t bytes;
};

/* What a node has told; kinds that are not about recordings are passed over.  0 or -ENOMEM. */
int received_take(struct received *received, const struct fleet *fleet, uint32_t node,
		  uint32_t kind, struct cursor *cursor) MUST_CHECK;

/* After the last: names of files to ranks, and what is not whole to their states.  0 or -ENOMEM. */
int received_settle(struct received *received, struct fleet *fleet) MUST_CHECK;
void received_done(struct received *received);

static inline void received_done_at_scope_end(struct received *received)
{
	received_done(received);
}
