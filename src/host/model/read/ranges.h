/*
 * Ranges from the calls that open and close them.  Calls are ordered by their beginnings, when the
 * end of a range is not yet known; so all calls are read once for the ends alone, 16 bytes a range,
 * and then again.
 */
#pragma once

#include "host/core/table.h"
#include "host/model/model.h"

/* Of an opening call, in order. */
struct range_end {
	uint64_t end_ns; /* with flags, see ranges.c */
	uint32_t below;  /* number and one of the range that was open before this one */
	int32_t level;   /* as its call answered; negative: unknown */
};

/* A closing call whose range began before the recording. */
struct headless_range {
	uint32_t thread, function; /* numbers in the model */
	uint64_t end_ns;
	uint64_t value; /* of the closing call */
	bool has_value;
};

/* The meaning of a closing call. */
enum closing {
	CLOSING_PAIRED, /* the end of a range that is shown where it begins */
	CLOSING_ALONE,  /* the end of a range that began unseen, but within the recording */
	CLOSING_FAILED, /* a pop where nothing was open: a call like others */
};

struct ranges {
	struct range_end *ends;
	size_t end_count, end_room;
	struct headless_range *headless; /* longest first */
	size_t headless_count, headless_room;
	unsigned char *closings; /* enum closing, by closing call */
	size_t closing_count, closing_room;
	struct table open; /* (thread or process and library, domain or id): range and one, least
			      level and one */
	uint64_t first_ns, last_ns; /* of the recording */
};

/* The effect of a function of the marker domain on ranges. */
enum marker_role {
	MARKER_NONE,
	MARKER_MARK,
	MARKER_PUSH,
	MARKER_POP,
	MARKER_START,
	MARKER_STOP,
};

enum marker_role marker_role_of(const struct trace_function *function);

/* Finds pairs; calls must be in the order of the second reading.  0 or -ENOMEM. */
int ranges_take(struct ranges *ranges, const struct call *call) MUST_CHECK;
void ranges_finish(struct ranges *ranges, const struct model *model);
void ranges_done(struct ranges *ranges);

/* The range of the opening call with this number: sets the end, and whether it was seen. */
void ranges_close(const struct ranges *ranges, size_t number, struct call *call);
