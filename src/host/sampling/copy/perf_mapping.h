/*
 * perf's record of an executable mapping.
 */
#pragma once

#include "host/process/maps.h"
#include "host/sampling/copy/perf_batch.h"

/* -EBADMSG: a field is missing. */
int perf_mapping_read(struct mapping *ret, const struct perf_record *record) MUST_CHECK;
