/*
 * One `limpet record` on a node, for one rank: a process of its own, so that a hanging rank, or one
 * that crashes its recorder, costs only itself.  It ends with the node part, however that ends.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/core/err.h"
#include "host/fleet/rank.h"

#include <stdbool.h>
#include <sys/types.h>

#define RECORDER_LINE_MAX (16u << 10)

struct rank_recorder {
	pid_t pid; /* 0: not running */
	/* The node part's ends of its pipes; -1: closed.  file: the recording, if it is to be
	 * sent. */
	int input, output, errors, file;
	uint64_t asked_ns;  /* when it was requested to stop; 0: it was not */
	uint64_t killed_ns; /* when it was killed; 0: it was not */
	/* Its output: the incomplete line, and the facts of earlier ones. */
	char line[RECORDER_LINE_MAX];
	size_t line_size;
	char reason[32]; /* why the recording ended: "duration" */
	uint64_t exit, size_bytes;
	char error[256], why[320];
	bool has_summary;
	uint64_t sent_bytes;
};

/* `arguments` follow "limpet record"; the path of the recording is "-o /dev/fd/3" if it is to be
 * sent. */
int rank_recorder_start(struct rank_recorder *ret, const char *const *arguments, bool is_sent,
			struct err *err) MUST_CHECK;

/* Reads one of its outputs. */
void rank_recorder_hear(struct rank_recorder *recorder);
void rank_recorder_drain_errors(struct rank_recorder *recorder);
/* The number of bytes read of its recording; 0: its end, -EAGAIN: none now. */
ssize_t rank_recorder_read_file(struct rank_recorder *recorder, void *bytes, size_t room);

/* The first requests it to stop and write its data; the second kills it. */
void rank_recorder_ask(struct rank_recorder *recorder);
void rank_recorder_kill(struct rank_recorder *recorder);

/* Has it ended, and all of its output been read? */
bool rank_recorder_has_ended(struct rank_recorder *recorder);
/* Was it killed longer ago than that, without having ended?  A process that hangs in the kernel
 * does not end. */
bool rank_recorder_is_stuck(const struct rank_recorder *recorder, uint64_t patience_ns);

/* The state of its rank, with the reason. */
enum rank_state rank_recorder_judge(const struct rank_recorder *recorder, char *reason,
				    size_t room);
