/*
 * From what a device counted to the records that tools get.  Numbers have fractions here: this file
 * alone is built with vector registers, and is called where a tool calls us, never from a hook.
 */
#pragma once

#include "target/sdk/counters/config_packets.h"

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
};

/* Adds those of all counters of the config.  `memory`: of at least EVALUATION_BYTES, for the time
 * of the call.  False: there is one that comes to nothing, or no room for all; then none of them
 * may be shown. */
#define EVALUATION_BYTES ((size_t)2 << 20)
bool counters_evaluate(const struct counter_config *config, const struct counted_values *counted,
		       void *memory, struct counter_records *ret);
