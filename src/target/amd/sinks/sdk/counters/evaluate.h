/*
 * Computes the records that tools get from the values that a device counted. Uses floating point:
 * built with vector registers, so it is called inside calls of tools, never from a hook.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/config_packets.h"

/* Layout from AMD's headers. */
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

/* Adds the records of all counters in the config. `memory`: scratch of EVALUATION_BYTES at least.
 * False: a counter has no value, or `ret` is full; then no record may be shown. */
#define EVALUATION_BYTES ((size_t)2 << 20)
bool counters_evaluate(const struct counter_config *config, const struct counted_values *counted,
		       void *memory, struct counter_records *ret);
