/*
 * The payloads of chunks about windows: what was measured of a process, a device or the machine
 * from one moment to another, by any source.  Metrics are numbered from 0 in order, through all
 * chunks of a file; windows refer to them by these numbers.
 *
 * Values of kernels are none of these: they belong to a kernel, and not to a time (CHUNK_COUNTERS).
 */
#pragma once

#include "host/core/bytes.h"
#include "host/recording/sample_chunks.h"

#define METRIC_NO_DEVICE UINT64_MAX

enum metric_form {
	METRIC_COUNT, /* added up in the window: events, nanoseconds, bytes */
	METRIC_LEVEL, /* averaged over the window: a share, a clock, watts */
	METRIC_FORMS,
};

struct recorded_metric {
	uint32_t number;
	uint32_t process; /* PROCESS_NONE: of the machine, or of a device with all its users */
	uint32_t form;    /* enum metric_form */
	uint64_t device;  /* its number, as work of the process has it; METRIC_NO_DEVICE: of none */
	const char *source;      /* the source: "perf", "amd" */
	const char *name;        /* "task-clock", "SQ_WAVES" */
	const char *unit;        /* "ns", "B", "%"; "": a plain number */
	const char *subject;     /* the device, for people: "gfx942 1"; "": none */
	const char *description; /* for people; may be "" */
};

enum window_flag {
	WINDOW_MISSING = 1,   /* nothing could be measured: there is no value */
	WINDOW_ESTIMATED = 2, /* measured in part of the window, and scaled to all of it */
};
#define WINDOW_FLAGS 3u

struct recorded_window {
	uint32_t metric;
	uint32_t flags;            /* enum window_flag, or'ed */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	double value;              /* 0 where it is missing */
};

/* Both kinds of chunks begin with a struct numbered_head; of windows its first is 0. */
void metric_put(struct bytes *bytes, const struct recorded_metric *metric);
/* All but the number, which counts on from the head's. */
int metric_take(struct cursor *cursor, struct recorded_metric *ret) MUST_CHECK;

/* The base of differences within a chunk; zero at its beginning. */
struct window_packer {
	uint64_t begin_ns, length_ns;
};

/* One has no fewer. */
#define WINDOW_BYTES_LEAST 3u

void window_put(struct bytes *bytes, struct window_packer *packer,
		const struct recorded_window *window);
/* -EPROTO also where its value is no number. */
int window_take(struct cursor *cursor, struct window_packer *packer,
		struct recorded_window *ret) MUST_CHECK;
