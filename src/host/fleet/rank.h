/*
 * The result for a rank, the file name of its recording, the same at both ends, and sets of ranks.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/err.h"

#include <stdbool.h>
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

#define RANK_MAX 0xffffffu /* sixteen million */

struct rank_range {
	uint32_t first, last;
};

/* Kept as ranges: "0-4,6-7".  Zero is empty. */
struct rank_set {
	struct rank_range *items; /* ascending, with gaps between them */
	size_t count, room;
};

/* "0,7,8-15".  Exit code EXIT_USAGE if it is invalid. */
int rank_set_parse(struct rank_set *ret, const char *text, struct err *err) MUST_CHECK;
void rank_set_done(struct rank_set *set);
DEFINE_STRUCT_CLEANUP(rank_set, rank_set_done)

/* 0 or -ENOMEM. */
int rank_set_add(struct rank_set *set, uint32_t rank) MUST_CHECK;
int rank_set_add_range(struct rank_set *set, struct rank_range range) MUST_CHECK;
bool rank_set_has(const struct rank_set *set, uint32_t rank);
uint64_t rank_set_size(const struct rank_set *set);

/* "0-4,6-7", cut between ranges if there is no room: "0-4,6-7,...".  Returns the buffer. */
const char *rank_set_describe(const struct rank_set *set, char *buffer, size_t capacity);
