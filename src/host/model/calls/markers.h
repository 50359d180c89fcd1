/*
 * Ranges and marks by their text.
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"
#include "host/model/statistics.h"

struct marker_row {
	enum call_kind kind;
	bool is_process_wide;
	char *name;
	const char *library;
	struct statistics statistics; /* a cut range counts with its recorded part */
	uint64_t unfinished;          /* those of them that were cut */
};

/* Zero is empty. */
struct markers {
	struct marker_row *rows;
	uint32_t count;
	struct row_index by_name; /* (hash of the name, a number that distinguishes equal hashes) */
	uint64_t ranges, marks, unfinished; /* all */
	uint64_t total_ns;                  /* of ranges */
};

/* Ignores other calls.  0 or -ENOMEM. */
int markers_add(struct markers *markers, const struct call *call) MUST_CHECK;
/* Ranges before marks, by time, then by number. */
void markers_sort(struct markers *markers);
void markers_done(struct markers *markers);
