/*
 * The payload of chunks about the usage of processes: readings of processor time, memory and
 * threads, several times a second.
 */
#pragma once

#include "host/core/bytes.h"

/* One reading of a process. */
struct recorded_usage {
	uint32_t process, threads;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;  /* so far */
	uint64_t rss_bytes;
};

#define USAGE_BYTES 32u

/* Until usage_set_count(), the count before them is 0. */
void usage_begin(struct bytes *bytes);
void usage_put(struct bytes *bytes, const struct recorded_usage *usage);
void usage_set_count(struct bytes *bytes, uint32_t count);

/* How many follow: no more than there are bytes for. */
int usage_take_count(struct cursor *cursor, uint32_t *ret) MUST_CHECK;
int usage_take(struct cursor *cursor, struct recorded_usage *ret) MUST_CHECK;
