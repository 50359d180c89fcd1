/*
 * A record of perf's that says: this was mapped executable.
 */
#pragma once

#include "host/process/maps.h"
#include "host/sampling/copy/perf_batch.h"

/* -EBADMSG: it does not have the fields that it should. */
int perf_mapping_read(struct mapping *ret, const struct perf_record *record) MUST_CHECK;
