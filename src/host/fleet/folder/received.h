/*
 * Recordings that nodes send, while they arrive.  Pieces must be consecutive: after a missing one
 * nothing is kept, so that a file is a recording that was cut, never one with a hole.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/fleet/folder/fleet_folder.h"

struct received_file {
	uint32_t node;
	pid_t top;
	int fd; /* -1: nothing has arrived, or all */
	uint64_t bytes;
	uint64_t told_bytes; /* the length reported by its node */
	bool is_told;        /* its node reported its end */
	bool is_there;       /* its node wrote it into the folder */
	bool is_torn;        /* a piece is missing */
	int error;           /* it could not be written */
};

/* Zero, except the folder, is none. */
struct received {
	const struct fleet_folder *folder;
	struct received_file *files;
	size_t count, room;
	struct table by_rank; /* (node, topmost pid): its index */
	uint64_t bytes;
};

/* Handles a node's message; ignores other kinds.  0 or -ENOMEM. */
int received_take(struct received *received, const struct fleet *fleet, uint32_t node,
		  uint32_t kind, struct cursor *cursor) MUST_CHECK;

/* At the end: sets the files of ranks, and the states of incomplete ones.  0 or -ENOMEM. */
int received_settle(struct received *received, struct fleet *fleet) MUST_CHECK;
void received_done(struct received *received);
DEFINE_STRUCT_CLEANUP(received, received_done)
