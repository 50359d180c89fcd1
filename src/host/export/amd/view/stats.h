/*
 * Times by domain and name, as AMD's summaries add them up.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/rows.h"
#include "host/export/amd/view/amd.h"
#include "host/model/statistics.h"

struct amd_stats_row {
	enum amd_domain domain;
	char *name;
	struct statistics statistics;
};

struct amd_stats {
	struct amd_stats_row *rows; /* by domain, then by total time, once sorted */
	uint32_t count;
	size_t first[AMD_DOMAINS + 1]; /* rows of a domain are from first[domain] to the next */
	struct statistics domains[AMD_DOMAINS];
	uint64_t events;
	struct row_index by_name; /* (domain, hash of the name) */
};

/* Reads all events of the view.  0 or -ENOMEM. */
int amd_stats_init(struct amd_stats *ret, struct amd_view *view) MUST_CHECK;
void amd_stats_done(struct amd_stats *stats);

DEFINE_STRUCT_CLEANUP(amd_stats, amd_stats_done)
