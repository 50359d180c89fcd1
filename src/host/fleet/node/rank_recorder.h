/*
 * One `limpet record` on a node, for one rank: its own process, so that a rank that hangs or hurts
 * its recorder costs only itself.  It ends with the node part, however that ends.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/core/err.h"
#include "host/fleet/rank.h"

#include <stdbool.h>
#include <sys/types.h>

#define RECORDER_LINE_MAX (16u << 10)

struct rank_recorder {
	pid_t pid; /* 0: it does not run */
	/* Our ends of its pipes; -1: closed.  file: the recording, where it is to be sent. */
	int input, output, errors, file;
	uint64_t asked_ns;  /* when it was asked to stop; 0: it was not */
	uint64_t killed_ns; /* when it was ended by force; 0: it was not */
	/* What it has said: the line that is not whole yet, and what counts of those before. */
	char line[RECORDER_LINE_MAX];
	size_t line_size;
	char reason[32]; /* for which the recording ended: "duration" */
	uint64_t exit, size_bytes;
	char error[256], why[320];
	bool has_summary;
	uint64_t sent_bytes;
};

/* `arguments` follow "limpet record"; the path of the recording is "-o /dev/fd/3" where it is to be
 * sent. */
int rank_recorder_start(struct rank_recorder *ret, const char *const *arguments, bool is_sent,
			struct err *err) MUST_CHECK;

/* Reads what there is of one of its outputs. */
void rank_recorder_hear(struct rank_recorder *recorder);
void rank_recorder_drain_errors(struct rank_recorder *recorder);
/* How many bytes of its recording came; 0: it has ended, -EAGAIN: none now. */
ssize_t rank_recorder_read_file(struct rank_recorder *recorder, void *bytes, size_t room);

/* To stop and write what it has; then, at the second, by force. */
void rank_recorder_ask(struct rank_recorder *recorder);
void rank_recorder_kill(struct rank_recorder *recorder);

/* Has it ended, and all of it been read? */
bool rank_recorder_has_ended(struct rank_recorder *recorder);
/* Was it killed longer ago than that, and is there yet?  Nothing ends one that hangs in the kernel.
 */
bool rank_recorder_is_stuck(const struct rank_recorder *recorder, uint64_t patience_ns);

/* What became of its rank, and why. */
enum rank_state rank_recorder_judge(const struct rank_recorder *recorder, char *reason,
				    size_t room);
