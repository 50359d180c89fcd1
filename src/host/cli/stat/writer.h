/*
 * How counts are shown: as text, JSON or csv.
 */
#pragma once

#include "host/counters/counting.h"
#include "host/counters/metric.h"
#include "host/counters/reason.h"

/* A time of counting, in nanoseconds since it began. */
struct stat_span {
	bool is_interval; /* else all of it */
	uint64_t begin_ns, end_ns;
};

struct counter_watch;

struct stat_view {
	const struct counting *counting;
	struct counter_machine machine;
	struct counter_watch *devices; /* NULL: none is counted */
};

struct stat_writer {
	void (*begin)(const struct stat_view *view, uint64_t duration_ns);
	void (*span)(const struct stat_view *view, const struct stat_span *span);
	/* How it ended, once all is shown. */
	void (*end)(const struct stat_view *view, const char *ending);
};

extern const struct stat_writer stat_text, stat_json, stat_csv;

/* One count, with all its notes. */
struct stat_count {
	const struct counted_subject *subject;
	const struct counter_event *event;
	const struct count *count;
	struct counter_metric metric;
	struct counter_reason reason;
	char name[COUNTER_NAME_MAX];
};

/* All counts to show: of each process, then of its threads, then the remainder of no thread. */
typedef void stat_visitor(const struct stat_count *count, const struct stat_span *span);
void stat_visit(const struct stat_view *view, const struct stat_span *span, stat_visitor *visit);

/* One counter of a device; see devices.h. */
struct stat_device_count {
	const char *name, *device; /* "SQ_WAVES", "gfx942 1" */
	const char *unit;          /* "%"; "": a plain number */
	bool is_level;             /* the value is a mean, and no sum */
	bool has_value;
	double value, rate; /* by the second, of a sum */
};
typedef void stat_device_visitor(const struct stat_device_count *count,
				 const struct stat_span *span);
void stat_visit_devices(const struct stat_view *view, const struct stat_span *span,
			stat_device_visitor *visit);

/* False for an event that the user did not request and that this machine lacks. */
bool stat_is_shown(const struct stat_view *view, const struct counted_process *process,
		   size_t event);

/* Why a count is missing or partial, on stderr, each reason once. */
void stat_tell_reasons(const struct stat_view *view);

/* The names of events, and which of them this machine can count. */
void stat_list(bool is_json);
/* The metrics of NVIDIA's devices that PM sampling has. */
int stat_list_pm(bool is_json, struct err *err) MUST_CHECK;
