/*
 * The calls, ranges and work of devices in a recording, each with a beginning and an end, in lanes.
 * Loaded on first use.
 */
#pragma once

#include "host/core/pool.h"
#include "host/model/model.h"

#define SPANS_MAX       (16u << 20)
#define LANES_MAX       4096u
#define SPAN_LEVELS_MAX 64u
#define LANE_TITLE_MAX  160u

struct span {
	uint64_t begin_ns, end_ns; /* in time of the session */
	uint64_t correlation;      /* 0: none */
	uint32_t lane, name;
	uint32_t cause; /* of work: number of the call and one; 0: it is not known */
	uint8_t level, domain;
	bool is_work;
};

enum lane_type { LANE_CALLS, LANE_MARKERS, LANE_QUEUE };

struct span_lane {
	char title[LANE_TITLE_MAX];
	enum lane_type type;
	int64_t thread; /* its number; -1: it is no thread's */
	int32_t tid;    /* of it */
	uint64_t spans;
	unsigned depth;
	uint64_t ends_ns[SPAN_LEVELS_MAX]; /* of the last span on each level, during filling */
};

/* Spans on one level of a lane, in the order of their beginnings; nothing on it overlaps, but on
 * the last. */
struct span_row {
	size_t first, count;
};

struct spans {
	bool is_loaded;
	struct span *items; /* in the order of their beginnings */
	size_t count, room;
	struct span_lane *lanes;
	size_t lane_count, lane_room;
	struct pool names;
	uint64_t left_out;  /* beyond SPANS_MAX, and in lanes beyond LANES_MAX */
	bool has_all_lanes; /* none was beyond that */
	/* The index. */
	struct span_row *rows; /* by lane and level */
	uint32_t *order;       /* their spans, row by row */
	uint32_t *longest;     /* of each block of them */
	uint32_t *works;       /* those with a known cause, in the order of their beginnings */
	size_t work_count;
};

/* 0 or -ENOMEM; `origin_ns` is CLOCK_BOOTTIME of the session's time 0. */
int spans_load(struct spans *ret, struct model *model, uint64_t origin_ns) MUST_CHECK;
void spans_done(struct spans *spans);

/* The call that caused this work; NULL: it is not known. */
const struct span *spans_cause(const struct spans *spans, const struct span *work);

/* Spans of a row that begin in one pixel. */
struct span_group {
	size_t first, end; /* in the order of the rows */
};

/* Makes the index by time: rows of a lane without overlaps, the longest of each block of them, and
 * the work whose cause is known.  0 or -ENOMEM. */
int span_index_make(struct spans *spans) MUST_CHECK;

/* The first of a row that does not end before that time. */
size_t span_row_find(const struct spans *spans, const struct span_row *row, uint64_t time_ns);
/* The first from `first` on, and before `end`, that begins at that time or later: `end` where none
 * does. */
size_t span_begin_find(const struct spans *spans, size_t first, size_t end, uint64_t time_ns);
/* Of a group that is not empty. */
const struct span *span_longest(const struct spans *spans, const struct span_group *group);

/* How many of `works` begin before that time. */
size_t span_works_before(const struct spans *spans, uint64_t time_ns);

static inline uint64_t span_length(const struct span *span)
{
	return span->end_ns - MIN(span->end_ns, span->begin_ns);
}
