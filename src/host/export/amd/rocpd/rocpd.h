/*
 * rocpd: AMD's database of a trace.
 */
#pragma once

#include "host/export/amd/amd.h"

/* Writes all that the view shows into the file, which is there and empty; `shown` is how people
 * call it. */
int rocpd_write(struct amd_view *view, const char *path, const char *shown,
		struct err *err) MUST_CHECK;
