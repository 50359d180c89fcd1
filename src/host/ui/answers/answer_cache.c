/*
 * Keeps answers.
 */
#include "host/ui/answers/answer_cache.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"

#include <string.h>

/* Pages send requests ten times a second.  A slow answer is computed again after this many times
 * its duration. */
#define GOOD_NS     UINT64_C(90000000)
#define GOOD_FACTOR 10u
#define GOOD_MAX_NS UINT64_C(1000000000)

/* Answers added up from samples and calls of a range, and from nothing else. */
static const bool is_cached[UI_VERBS] = {
	[UI_THREADS] = true, [UI_FLAME] = true,    [UI_FUNCTIONS] = true, [UI_SANDWICH] = true,
	[UI_HEATMAP] = true, [UI_TIMELINE] = true, [UI_SPANS] = true,     [UI_FLOWS] = true,
	[UI_COMPARE] = true, [UI_COUNTERS] = true,
};

static const bool is_change[UI_VERBS] = {
	[UI_OPEN] = true,   [UI_STOP] = true,  [UI_START] = true,
	[UI_DETACH] = true, [UI_CLOSE] = true,
};

bool ui_command_is_look(const struct ui_command *command)
{
	return !is_change[command->verb];
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

static void expired_drop(struct answer_cache *cache)
{
	for (unsigned i = 0; i < ANSWERS_CACHED; i++)
		if (cache->items[i].reply.out && now_ns() > cache->items[i].until_ns)
			reply_close(&cache->items[i].reply);
}

bool answer_cache_send(struct answer_cache *cache, const struct ui_command *command, int socket)
{
	expired_drop(cache);
	for (unsigned i = 0; is_cached[command->verb] && i < ANSWERS_CACHED; i++) {
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

	if (!is_cached[command->verb] || reply->head.status != 200)
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
