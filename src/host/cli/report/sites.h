/*
 * `limpet report` about where traced calls were made from.
 */
#pragma once

#include "host/cli/report/recording_report.h"

/* "malloc < work (work.c:12) < main", and why that is not all. */
void site_print(const struct samples *samples, const struct trace_function *function,
		uint32_t stack, enum stack_end end);

/* Reports how many calls of a table have no caller, if others have: under load a thread writes its
 * calls without them. */
void callerless_print(double without, double all);

/* Tables of calls of locks and of I/O by stack. */
void report_sites_print(const struct recording_report *report, const struct report_style *style);
