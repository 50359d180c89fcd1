/*
 * Which domains of AMD's runtimes are asked for, and what modules import of those that have no
 * tables.
 */
#pragma once

#include "target/domains/runtime.h"

void amd_wants_start(const struct trace_request *request);

/* Is this domain to be written?  On any thread. */
bool amd_wants(enum trace_domain domain);
/* Any of what devices do? */
bool amd_wants_work(void);

/* What modules import of a runtime that has no tables. */
struct import_pattern {
	const struct traced *traced;
	const char *text; /* "libamdhip64*:hip*" */
};

/* Adds the patterns of this domain, and excludes what the others match; false: no room. */
bool imports_add(const struct import_pattern *patterns, size_t count, enum trace_domain domain);
