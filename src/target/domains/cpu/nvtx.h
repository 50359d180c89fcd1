/*
 * NVTX as a library (nvtx.c) and as a header (nvtx_tables.c).
 */
#pragma once

#include "target/domains/runtime.h"

/* How calls of a function of NVTX are written; NULL: they are not. */
const struct traced *nvtx_traced(const char *symbol);

/* Before a session; then whenever modules may have changed. */
void nvtx_tables_begin(bool is_wanted);
void nvtx_tables_look(bool have_modules_changed, struct got_report *report);
