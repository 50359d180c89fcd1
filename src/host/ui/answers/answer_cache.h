/*
 * The last answers, so that several pages that ask for the same are answered from one adding up,
 * and adding up takes a bounded share of a processor however often it is asked for.
 */
#pragma once

#include "host/ui/reply.h"

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

/* How long what was begun then is good for: a tenth of a second, and longer where it took long. */
uint64_t answer_good_until(uint64_t began_ns);

/* Sends an answer that is still good; false: there is none. */
bool answer_cache_send(struct answer_cache *cache, const struct ui_command *command, int socket);
/* Takes the reply where it may be sent again. */
void answer_cache_keep(struct answer_cache *cache, const struct ui_command *command,
		       struct reply *reply, uint64_t began_ns);
/* After whatever changes a session. */
void answer_cache_clear(struct answer_cache *cache);
/* Whether the command only looks. */
bool ui_command_is_look(const struct ui_command *command);
