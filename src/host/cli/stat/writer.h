/*
 * How counts are shown: as text, JSON or csv.
 */
#pragma once

#include "host/counters/count.h"
#include "host/counters/counting.h"
#include "host/counters/reason.h"
#include "host/recorder/counter_watch.h"

/* A time of counting, in nanoseconds since it began. */
struct stat_span {
	bool is_interval; /* else all of it */
	uint64_t begin_ns, end_ns;
};

struct stat_view {
	const struct counting *counting;
	struct stat_span span; /* which is shown */
	struct counter_machine machine;
	/* Counters of devices, which an agent in the process reads; NULL: none is counted. */
	struct counter_watch *devices;
};

struct stat_writer {
	void (*begin)(const struct stat_view *view, uint64_t duration_ns);
	void (*span)(const struct stat_view *view);
	/* How it ended, once all is shown; may be NULL. */
	void (*end)(const struct stat_view *view, const char *ending);
};

extern const struct stat_writer stat_text, stat_json, stat_csv;

/* One count, with all its notes. */
struct stat_count {
	const struct counted_subject *subject; /* NULL: a device's, of all processes that use it */
	const char *device;                    /* "gfx942 1" */
	char name[COUNTER_NAME_MAX];
	bool is_level;    /* of a device: the value is a mean, and no sum */
	double amount;    /* of a device: the value */
	char value[32];   /* "": there is none, which is never 0 */
	const char *unit; /* "ns", "%"; "": a plain number */
	enum count_status status;
	double share; /* of the time for which it was counted */
	struct counter_metric metric;
	struct counter_reason reason;
};

typedef void stat_visitor(const struct stat_view *view, const struct stat_count *count);
/* All counts to show: of each process, then of its threads, then the remainder of no thread. */
void stat_visit(const struct stat_view *view, stat_visitor *visit);
void stat_visit_devices(const struct stat_view *view, stat_visitor *visit);

/* False for an event that the user did not request and that this machine lacks. */
bool stat_is_shown(const struct stat_view *view, const struct counted_process *process,
		   size_t event);

/* Why a count is missing or partial, on stderr, each reason once. */
void stat_print_reasons(const struct stat_view *view);

/* The names of events, and which of them this machine can count. */
void stat_list(bool is_json);
/* The metrics of NVIDIA's devices that PM sampling has. */
int stat_list_pm(bool is_json, struct err *err) MUST_CHECK;
