/*
 * One of AMD's sets of CSV files, and the rows of its traces.
 */
#pragma once

#include "host/core/output/output_file.h"
#include "host/export/amd/csv/csv.h"

/* One set being written. */
struct csv_set {
	struct amd_view *view;
	const char *prefix;
	const struct amd_csv_options *options;
	struct err *err;
	struct output_file traces[AMD_DOMAINS], stats[AMD_DOMAINS], domain_stats, agent_info;
	struct agents *agents; /* of each process */
};

/* By enum amd_domain: the first line of a trace, and one row of it without its end. */
typedef int csv_row(struct csv_set *set, FILE *out, const struct amd_event *event);
extern const char *const csv_headers[AMD_DOMAINS];
extern csv_row *const csv_rows[AMD_DOMAINS];

void csv_number(FILE *out, uint64_t number);
