/*
 * Counters over time as Perfetto has them: a counter track for each metric.
 */
#pragma once

#include "host/model/model.h"

#include <stdio.h>

/* Under the tracks of processes that pftrace_write_styled() makes. */
int pftrace_windows_write(struct model *model, FILE *out) MUST_CHECK;
