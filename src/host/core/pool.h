/*
 * Texts, each kept once and numbered from 0 in the order in which they are added.
 */
#pragma once

#include "shared/base/macros.h"

#define POOL_NONE UINT32_MAX

struct pool_slot {
	uint32_t number; /* plus one; 0: the slot is free */
	uint32_t hash;   /* of the text: most comparisons need no more */
};

/* Zero is empty. */
struct pool {
	char **texts;
	size_t count, room;
	struct pool_slot *slots;
	size_t slot_count;
};

/* The text's number; POOL_NONE when there is no memory. */
uint32_t pool_add(struct pool *pool, const char *text);

/* The number of a text that the pool has; else POOL_NONE. */
uint32_t pool_find(const struct pool *pool, const char *text);

/* Adds the text and returns the pool's copy, NULL when there is no memory. */
const char *pool_keep(struct pool *pool, const char *text);

static inline const char *pool_text(const struct pool *pool, uint32_t number)
{
	return pool->texts[number];
}

void pool_done(struct pool *pool);
