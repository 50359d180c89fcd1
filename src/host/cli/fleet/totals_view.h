/*
 * The totals of a fleet's recordings, for people and for programs.
 */
#pragma once

#include "host/fleet/report/fleet_totals.h"

struct totals_view {
	const struct fleet *fleet;
	const struct fleet_totals *totals;
	const char *folder;
	uint64_t rows; /* of each table */
};

void totals_view_text(const struct totals_view *view);
void totals_view_json(const struct totals_view *view);

/* Reads the recordings of a folder with progress for a person, and shows their totals.  Fails if
 * none can be read; `ret_troubled`: how many ranks have a cut one, or none. */
int totals_show(const struct fleet *fleet, const char *folder, uint64_t rows, bool is_json,
		uint64_t *ret_troubled, struct err *err) MUST_CHECK;

/* EXIT_PARTLY where there are such. */
int totals_judge(const struct fleet *fleet, uint64_t troubled, struct err *err) MUST_CHECK;

#define TOTALS_ROWS 20u
