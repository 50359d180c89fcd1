/*
 * Open addressing over the hashes of texts.
 */
#include "host/core/pool.h"
#include "shared/base/hash.h"

#include "host/core/room.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SLOTS 64u

static uint64_t hash_of(const char *text)
{
	uint64_t hash = hash_add_text(HASH_SEED, text);

	return hash ^ hash >> 31;
}

/* Where the text is, or where it would go. */
static uint32_t *slot_of(const struct pool *pool, const char *text)
{
	size_t at = hash_of(text) & (pool->slot_count - 1);

	while (pool->slots[at] && strcmp(pool->texts[pool->slots[at] - 1], text) != 0)
		at = (at + 1) & (pool->slot_count - 1);
	return &pool->slots[at];
}

static bool pool_widen(struct pool *pool)
{
	struct pool wider = *pool;

	if (pool->count < pool->slot_count / 2)
		return true;
	wider.slot_count = pool->slot_count ? pool->slot_count * 2 : LEAST_SLOTS;
	wider.slots = calloc(wider.slot_count, sizeof(*wider.slots));
	if (!wider.slots)
		return false;
	for (size_t i = 0; i < pool->count; i++)
		*slot_of(&wider, pool->texts[i]) = (uint32_t)i + 1;
	free(pool->slots);
	*pool = wider;
	return true;
}

uint32_t pool_add(struct pool *pool, const char *text)
{
	uint32_t *slot;

	if (!pool_widen(pool) || pool->count >= POOL_NONE - 1 ||
	    make_room(&pool->texts, pool->count, &pool->room, sizeof(*pool->texts)))
		return POOL_NONE;
	slot = slot_of(pool, text);
	if (*slot)
		return *slot - 1;
	pool->texts[pool->count] = strdup(text);
	if (!pool->texts[pool->count])
		return POOL_NONE;
	*slot = (uint32_t)++pool->count;
	return *slot - 1;
}

uint32_t pool_find(const struct pool *pool, const char *text)
{
	uint32_t slot = pool->count ? *slot_of(pool, text) : 0;

	return slot ? slot - 1 : POOL_NONE;
}

const char *pool_keep(struct pool *pool, const char *text)
{
	uint32_t number = pool_add(pool, text);

	return number == POOL_NONE ? NULL : pool->texts[number];
}

void pool_done(struct pool *pool)
{
	for (size_t i = 0; i < pool->count; i++)
		free(pool->texts[i]);
	free(pool->texts);
	free(pool->slots);
	*pool = (struct pool){ 0 };
}
