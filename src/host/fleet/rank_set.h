/*
 * Sets of ranks, kept as ranges: "0-4,6-7".
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/err.h"

#include <stdbool.h>

#define RANK_MAX 0xffffffu /* sixteen million */

struct rank_range {
	uint32_t first, last;
};

/* Zero is empty. */
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
