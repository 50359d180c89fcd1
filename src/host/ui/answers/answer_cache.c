/*
 * Keeps answers.
 */
#include "host/ui/answers/answer_cache.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/ui/request/routes.h"

#include <string.h>

/* Pages send requests ten times a second.  A slow answer is computed again after this many times
 * its duration. */
#define GOOD_NS     UINT64_C(90000000)
#define GOOD_FACTOR 10u
#define GOOD_MAX_NS UINT64_C(1000000000)

static bool is_cached(const struct ui_command *command)
{
	return routes[command->verb].traits & ROUTE_RANGE;
}

uint64_t answer_good_until(uint64_t began_ns)
{
	uint64_t took_ns = now_ns() - began_ns;

	return now_ns() + MIN(MAX(took_ns * GOOD_FACTOR, GOOD_NS), GOOD_MAX_NS);
}

/* Unused fields of commands are zero. */
static bool is_same(const struct ui_command *a, const struct ui_command *b)
{
	const size_t from = offsetof(struct ui_command, tag) + sizeof(a->tag);

	return a->verb == b->verb &&
	       memcmp((const char *)a + from, (const char *)b + from, sizeof(*a) - from) == 0;
}

bool answer_cache_send(struct answer_cache *cache, const struct ui_command *command, int socket)
{
	for (unsigned i = 0; i < ANSWERS_CACHED; i++)
		if (cache->items[i].reply.out && now_ns() > cache->items[i].until_ns)
			reply_close(&cache->items[i].reply);
	for (unsigned i = 0; is_cached(command) && i < ANSWERS_CACHED; i++) {
		struct cached_answer *item = &cache->items[i];

		if (item->reply.out && is_same(&item->command, command)) {
			item->reply.head.tag = command->tag;
			(void)!reply_send(&item->reply, socket);
			return true;
		}
	}
	return false;
}

void answer_cache_keep(struct answer_cache *cache, const struct ui_command *command,
		       struct reply *reply, uint64_t began_ns)
{
	struct cached_answer *item = &cache->items[cache->next];

	if (!is_cached(command) || reply->head.status != 200)
		return;
	cache->next = (cache->next + 1) % ANSWERS_CACHED;
	reply_close(&item->reply);
	item->command = *command;
	item->reply = *reply;
	item->until_ns = answer_good_until(began_ns);
	reply->out = NULL;
}

void answer_cache_clear(struct answer_cache *cache)
{
	for (unsigned i = 0; i < ANSWERS_CACHED; i++)
		reply_close(&cache->items[i].reply);
}
