/*
 * A plan in the words of the tracer in the target, and as recordings have it.
 */
#pragma once

#include "host/counters/amd/devices.h"
#include "host/recording/facts.h"

#define COUNTER_FACTS_MAX (PLAN_EVENTS_MAX + PLAN_COUNTERS_MAX)

struct counter_collection {
	struct amd_counters definitions;
	struct counter_devices devices;
	struct counter_plan plan;
	char words[2048];
	struct recorded_counter facts[COUNTER_FACTS_MAX];
	uint32_t fact_count;
};

/*
 * All that has to be known before a process is touched: definitions (folder NULL: as installed;
 * extra: the text of a further file, or NULL), devices, one plan for all of them, one pass.
 * Devices of another architecture than the first that has the counters are left out.
 */
int counter_collection_open(struct counter_collection *ret, const char *folder, const char *extra,
			    const char *const *names, size_t count, struct err *err) MUST_CHECK;
void counter_collection_close(struct counter_collection *collection);
