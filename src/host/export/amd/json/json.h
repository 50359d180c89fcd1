/*
 * AMD's results.json.
 */
#pragma once

#include "host/export/amd/view/amd.h"

#include <stdio.h>

/* One object with a list of processes: those of the views, of one model and each of one process.  0
 * or -errno; the caller checks `out` for errors. */
int amd_json_write(struct amd_view *views, size_t count, FILE *out) MUST_CHECK;
