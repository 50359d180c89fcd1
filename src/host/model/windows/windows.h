/*
 * The windows of a recording: what was measured of processes, devices or the machine, from one
 * moment to another.  Metrics are kept; windows themselves are read again each time.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/model/model.h"
#include "host/recording/pack_samples.h"

struct model_metric {
	uint32_t number;
	const struct model_process *process; /* NULL: of the machine */
	enum metric_form form;
	uint64_t device; /* METRIC_NO_DEVICE */
	const char *source, *name, *unit, *subject, *description;
};

/* One window.  Valid until its visitor returns. */
struct window {
	const struct model_metric *metric;
	uint64_t begin_ns, end_ns; /* CLOCK_BOOTTIME */
	bool has_value, is_estimated;
	double value;
};

/* Not 0: no more, please. */
typedef int window_visitor(const struct window *window, void *context);

/* In the order of the file, which for each metric is that of their ends.  Returns the visitor's
 * first result other than 0, or -ENOMEM. */
int model_each_window(struct model *model, window_visitor *visit, void *context) MUST_CHECK;

/* A count per second, a level as it is: the value for curves and tables.  False if there is none,
 * or no time has passed. */
bool window_rate(const struct window *window, double *ret);
/* The unit of that: "/s", "CPUs", "B/s", "%". */
const char *metric_rate_unit(const struct model_metric *metric);
/* Is its unit the nanosecond? */
bool metric_is_time(const struct model_metric *metric);
/* "count", "level" */
const char *metric_form_name(enum metric_form form);
/* "SQ_WAVES, gfx942 1"; with the process where the model has several. */
void metric_title(const struct model *model, const struct model_metric *metric, char *ret,
		  size_t room);

/* Windows as points of a curve in steps, as trace viewers draw counters: a value (window_rate)
 * holds from its time to the next one.  Not 0: no more, please. */
typedef int point_visitor(const struct model_metric *metric, uint64_t time_ns, double value,
			  void *context);

/* Each window at its beginning; if nothing follows it, a count falls to 0 at its end.  Returns the
 * visitor's result, or -ENOMEM. */
int model_each_point(struct model *model, point_visitor *visit, void *context) MUST_CHECK;

/* Totals of windows: for each metric its sum, its mean, and a window's minimum and maximum. */
struct window_row {
	const struct model_metric *metric;
	uint64_t windows;            /* with a value */
	uint64_t missing, estimated; /* without a value; scaled ones */
	uint64_t time_ns;            /* of those with a value */
	double total;                /* of a count */
	double mean, least, most;    /* by the second where it is a count (window_rate) */
};

struct window_summary {
	struct window_row *rows; /* by the number of their metric */
	size_t count;
};

/* 0 or -ENOMEM. */
int window_summary_make(struct model *model, struct window_summary *ret) MUST_CHECK;
void window_summary_done(struct window_summary *summary);

DEFINE_STRUCT_CLEANUP(window_summary, window_summary_done)

/* For the reader.  A visitor: counts into struct windows. */
int windows_count(const struct window *window, void *context);
int windows_read_metrics(struct model *model, const struct chunk *chunk) MUST_CHECK;
int windows_read_chunk(struct model *model, const struct chunk *chunk) MUST_CHECK;
void windows_done(struct windows *windows);
