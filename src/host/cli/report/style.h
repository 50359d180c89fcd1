/*
 * How a report is written on paper: one unit of time, and how many rows a table has.
 */
#pragma once

#include <stdint.h>

struct report_style {
	const char *unit; /* "msec" */
	uint64_t unit_ns;
	uint64_t limit; /* rows of each table, 0: all */
};

static inline double in_unit(double time_ns, const struct report_style *style)
{
	return time_ns / (double)style->unit_ns;
}

static inline double time_in_unit(uint64_t time_ns, const struct report_style *style)
{
	return in_unit((double)time_ns, style);
}
