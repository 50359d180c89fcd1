/*
 * From what a device counted to the records that tools get.  Numbers have fractions here: this file
 * alone is built with vector registers, and is called where a tool calls us, never from a hook.
 */
#pragma once

#include "target/sdk/counters/packets.h"

/* As AMD's headers have it. */
struct counter_record {
	uint64_t id;
	double value;
	uint64_t dispatch, user_data;
	struct sdk_handle agent;
};
_Static_assert(sizeof(struct counter_record) == 40, "as in the headers");

struct counter_records {
	struct counter_record *items;
	size_t count, room;
	bool is_cut; /* there are more */
};

/* Adds those of all counters of the packets' config.  `memory`: of at least EVALUATION_BYTES, for
 * the time of the call.  What comes to nothing, since a device does not count it, is left out. */
#define EVALUATION_BYTES ((size_t)2 << 20)
void counters_evaluate(const struct counter_packets *packets, void *memory,
		       struct counter_records *ret);
