/*
 * The last answers, so that several pages with the same request share one computation, which takes
 * a bounded share of a processor for any number of requests.
 */
#pragma once

#include "host/ui/reply/reply.h"

#define ANSWERS_CACHED 16u

struct cached_answer {
	struct ui_command command;
	struct reply reply;
	uint64_t until_ns;
};

/* Zero is an empty one. */
struct answer_cache {
	struct cached_answer items[ANSWERS_CACHED];
	unsigned next; /* that is replaced */
};

/* Until when an answer begun then is valid: a tenth of a second, and longer if it was slow. */
uint64_t answer_good_until(uint64_t began_ns);

/* Sends an answer that is still good; false: there is none. */
bool answer_cache_send(struct answer_cache *cache, const struct ui_command *command, int socket);
/* Owns the reply if it may be sent again. */
void answer_cache_keep(struct answer_cache *cache, const struct ui_command *command,
		       struct reply *reply, uint64_t began_ns);
/* Before any change of a session. */
void answer_cache_clear(struct answer_cache *cache);
