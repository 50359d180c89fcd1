/*
 * Hooks of NVTX, as a library (nvtx.c) and as a header (nvtx_tables.c).
 */
#pragma once

#include "target/domains/runtime.h"

/* In the order of their pointers in the structure of nvtx_tables.c. */
#define NVTX_CALLS 16
extern const struct traced nvtx_calls[NVTX_CALLS];

/* nvtx_tables_begin() runs before a session, nvtx_tables_scan() when modules may have changed. */
void nvtx_tables_begin(bool is_wanted);
void nvtx_tables_scan(bool have_modules_changed, struct hooks_report *report);
