/*
 * What a node part sends once a second about the ranks that it samples: their recent running times,
 * and functions by their time over its ranks.  Each message is independent: a lost one costs a
 * second.
 */
#pragma once

#include "host/core/bytes.h"

#define TOP_FUNCTIONS_MAX 32u /* sent by one node */
#define TOP_RANKS_MAX     4096u
#define TOP_BYTES_MAX     (128u << 10)
#define TOP_WINDOW_NS     5000000000ull

struct top_message {
	uint64_t window_ns;          /* the recent time */
	uint64_t own_ns, own_for_ns; /* processor time of the node part, in own_for_ns */
	uint64_t samples, lost;      /* in the window; since the beginning */
	uint64_t other_ns;           /* in functions that are not sent */
	uint32_t hz;                 /* lowered if it cost too much */
	const char *sampler;
	uint32_t rank_count, function_count;
	struct cursor items; /* ranks, then functions */
};

struct top_rank {
	uint32_t pid; /* of its topmost process */
	uint64_t running_ns, samples;
	const char *function; /* its hottest one; "" */
};

/* Over the ranks of the node: least is among those with any. */
struct top_function {
	const char *name, *module;
	uint64_t sum_ns, total_ns, count;
	uint32_t ranks;
	uint64_t most_ns, least_ns;
	uint32_t most_pid, least_pid;
};

/* The message, then the announced numbers of ranks and functions. */
void top_message_put(struct bytes *message, const struct top_message *top);
void top_message_put_rank(struct bytes *message, const struct top_rank *rank);
void top_message_put_function(struct bytes *message, const struct top_function *function);

/* After the kind of the message.  False: invalid. */
bool top_message_take(struct cursor *cursor, struct top_message *ret);
bool top_message_take_rank(struct top_message *top, struct top_rank *ret);
bool top_message_take_function(struct top_message *top, struct top_function *ret);
