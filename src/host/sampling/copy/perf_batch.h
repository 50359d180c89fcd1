/*
 * The records of all rings, sorted by time.
 */
#pragma once

#include "host/sampling/copy/perf_events.h"

/* The fields that every record carries: attr.sample_id_all with TID, TIME, ID, CPU. */
struct perf_record {
	const struct perf_event_header *header;
	uint64_t time_ns, id;
	pid_t pid, tid;
	uint32_t cpu;
};

struct perf_batch {
	struct perf_record *items;
	size_t count, room;
	void **copies; /* of records across the end of a ring */
	size_t copy_count, copy_room;
	uint64_t *heads; /* of each ring: where the next reading begins */
};

/* Records point into the rings until perf_batch_done(), which frees their room. */
int perf_batch_take(struct perf_batch *ret, struct perf_events *events) MUST_CHECK;
void perf_batch_done(struct perf_batch *batch, struct perf_events *events);
