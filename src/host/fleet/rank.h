/*
 * The result for a rank, and the file name of its recording, the same at both ends.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

#define RANK_NONE UINT32_MAX /* its number is unknown */

/* Each rank ends in exactly one of these. */
enum rank_state {
	RANK_NO_ANSWER, /* its node sent nothing about it in time */
	RANK_DONE,      /* the request was fulfilled */
	RANK_IDLE,      /* it exists, but was never seen active */
	RANK_ENDED,     /* it has ended, or ended meanwhile */
	RANK_REFUSED,   /* it may not be profiled */
	RANK_CUT,       /* only a part was recorded */
	RANK_STATES,
};

/* "done", "no answer": for people; "done", "no-answer": for programs. */
const char *rank_state_name(enum rank_state state);
const char *rank_state_key(enum rank_state state);

#define RECORDING_NAME_MAX  160u
#define RECORDING_EXTENSION ".limpet"

/* "rank-00005-n2-4711.limpet"; "n2-4711.limpet" if its number is unknown (RANK_NONE).  Names of
 * nodes are foreign: characters that could lead out of a folder are replaced. */
const char *recording_name(uint32_t rank, const char *node, pid_t pid,
			   char ret[RECORDING_NAME_MAX]);
