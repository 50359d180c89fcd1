/*
 * A part of a session as one HTML file: the page with the answers inside.  It sends no requests.
 */
#pragma once

#include "host/core/err.h"

#include <stdio.h>

/* Its name in limpet export.  No line of exporters.def: it is in the executable only. */
#define PAGE_FORMAT "html-page"

#define SHARE_MAX (20u << 20)

/* Writes the page of a recording, for `limpet export`; UINT64_MAX: to its end.  How many bytes it
 * has, also where that is more than SHARE_MAX, and fails. */
int share_recording(const char *path, uint64_t from_ns, uint64_t to_ns, const char *version,
		    FILE *out, uint64_t *ret_bytes, struct err *err) MUST_CHECK;
