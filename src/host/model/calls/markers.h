/*
 * Ranges and marks by their text.
 */
#pragma once

#include "host/core/table.h"
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

struct markers {
	struct marker_row *rows;
	uint32_t count;
	size_t room;
	struct table by_name;
	uint64_t ranges, marks, unfinished; /* all */
	uint64_t total_ns;                  /* of ranges */
};

/* Other calls are passed over.  0 or -ENOMEM. */
int markers_take(struct markers *markers, const struct call *call) MUST_CHECK;
/* Ranges before marks, by time, then by number. */
void markers_sort(struct markers *markers);
void markers_done(struct markers *markers);
