/*
 * Debug files from servers, by build-id: a child process, debuginfod-find, requests them, and only
 * if the user wants that.  Downloads stay in that program's own cache.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>

/* The requests of one run.  Zero is the beginning. */
struct debuginfod {
	unsigned asked, found, late; /* late: not answered in time */
	uint64_t spent_ns;
};

/* Fails with the reason and the fix where nothing can be requested: no server is named in
 * DEBUGINFOD_URLS, or there is no debuginfod-find. */
int debuginfod_check(struct err *err) MUST_CHECK;

/* The path of the debug file with this build-id.  False when no server has it, or none answered in
 * time: DEBUGINFOD_TIMEOUT seconds for a file, or 20, and a minute for all of them. */
bool debuginfod_find(struct debuginfod *self, const unsigned char *build_id, size_t size, char *ret,
		     size_t room);
