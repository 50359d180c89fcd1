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

static uint32_t hash_of(const char *text)
{
	uint64_t hash = hash_add_text(HASH_SEED, text);

	return (uint32_t)(hash ^ hash >> 31);
}

/* Where the text is, or where it would go. */
static struct pool_slot *slot_of(const struct pool *pool, const char *text, uint32_t hash)
{
	size_t at = hash & (pool->slot_count - 1);

	while (pool->slots[at].number &&
	       (pool->slots[at].hash != hash ||
		strcmp(pool->texts[pool->slots[at].number - 1], text) != 0))
		at = (at + 1) & (pool->slot_count - 1);
	return &pool->slots[at];
}

static void slot_move(const struct pool *pool, const struct pool_slot *slot)
{
	size_t at = slot->hash & (pool->slot_count - 1);

	while (pool->slots[at].number)
		at = (at + 1) & (pool->slot_count - 1);
	pool->slots[at] = *slot;
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
	for (size_t i = 0; i < pool->slot_count; i++)
		if (pool->slots[i].number)
			slot_move(&wider, &pool->slots[i]);
	free(pool->slots);
	*pool = wider;
	return true;
}

uint32_t pool_add(struct pool *pool, const char *text)
{
	uint32_t hash = hash_of(text);
	struct pool_slot *slot;

	if (!pool_widen(pool) || pool->count >= POOL_NONE - 1 ||
	    make_room(&pool->texts, pool->count, &pool->room, sizeof(*pool->texts)))
		return POOL_NONE;
	slot = slot_of(pool, text, hash);
	if (slot->number)
		return slot->number - 1;
	pool->texts[pool->count] = strdup(text);
	if (!pool->texts[pool->count])
		return POOL_NONE;
	*slot = (struct pool_slot){ (uint32_t)++pool->count, hash };
	return slot->number - 1;
}

uint32_t pool_find(const struct pool *pool, const char *text)
{
	uint32_t number = pool->count ? slot_of(pool, text, hash_of(text))->number : 0;

	return number ? number - 1 : POOL_NONE;
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
