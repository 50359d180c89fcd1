/*
 * Hooks of NVTX, as a library (nvtx.c) and as a header (nvtx_tables.c).
 */
#pragma once

#include "target/domains/runtime.h"

/* Finds how calls of an NVTX function are recorded; NULL: they are not. */
const struct traced *nvtx_traced(const char *symbol);

/* nvtx_tables_begin() runs before a session, nvtx_tables_look() when modules may have changed. */
void nvtx_tables_begin(bool is_wanted);
void nvtx_tables_look(bool have_modules_changed, struct got_report *report);
