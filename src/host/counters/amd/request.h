/*
 * A plan in the words of the tracer in the target, and as recordings have it.
 */
#pragma once

#include "host/counters/amd/device_lock.h"
#include "host/recording/facts.h"

#define COUNTER_FACTS_MAX (PLAN_EVENTS_MAX + PLAN_COUNTERS_MAX)

struct counter_collection {
	struct amd_counters definitions;
	struct counter_devices devices;
	struct counter_plan plan;
	struct device_lock lock;
	/* Of each event: which devices count it, by their index; all where no counter names one. */
	uint64_t event_devices[PLAN_EVENTS_MAX];
	char left_out[256]; /* devices that have others: "device 3 (gfx1100)"; "": none */
	char words[6144];   /* 64 devices and 64 events fit */
	struct recorded_counter facts[COUNTER_FACTS_MAX];
	uint32_t fact_count;
};

struct counter_wish {
	const char *folder;       /* of the definitions; NULL: as installed */
	const char *extra;        /* the text of a further file, or NULL */
	const char *const *names; /* "SQ_WAVES", or "SQ_WAVES:device=0": of the first GPU only */
	size_t count;
	uint64_t window_ns; /* whole devices are counted, in windows of this length; 0: kernels */
};

/*
 * Prepares everything before a process is touched: definitions, devices, one plan for all of them,
 * one pass, the lock against other profilers.  Devices of another architecture than the first with
 * the counters are left out.
 */
int counter_collection_open(struct counter_collection *ret, const struct counter_wish *wish,
			    struct err *err) MUST_CHECK;
void counter_collection_close(struct counter_collection *collection);
