/*
 * `limpet report` about memory: where it was allocated, in three orders.
 */
#pragma once

#include "host/cli/report/recording_report.h"

void report_allocations_print(const struct recording_report *report,
			      const struct report_style *style);
