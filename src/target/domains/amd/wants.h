/*
 * The requested domains of AMD's runtimes, and imports of runtimes without tables.
 */
#pragma once

#include "target/domains/runtime.h"

void amd_wants_start(const struct trace_request *request);

/* True if this domain is recorded. On any thread. */
bool amd_wants(enum trace_domain domain);
/* True if any device work is recorded. */
bool amd_wants_work(void);

/* Imports of a runtime that has no tables. */
struct import_pattern {
	const struct traced *traced;
	const char *text; /* "libamdhip64*:hip*" */
};

/* Adds the patterns of this domain, and excludes matches of the others; false: no room. */
bool imports_add(const struct import_pattern *patterns, size_t count, enum trace_domain domain);
