/*
 * AMD's set of CSV files: a trace for each domain, agents, and statistics.
 */
#pragma once

#include "host/export/amd/view/agents.h"
#include "host/export/amd/view/stats.h"

struct amd_csv_options {
	bool keeps_strangers; /* keeps existing files that do not begin as limpet's */
	enum agent_index agent_index;
	const struct amd_stats *stats; /* of the view, for the files of statistics; NULL: none */
	/* Called for each complete file; may be NULL. */
	void (*tell)(void *context, const char *path);
	void *context;
};

/* Writes PREFIX_kernel_trace.csv and so on, of each domain that has events, and
 * PREFIX_agent_info.csv.  All or none appear, as far as the file system allows. */
int amd_csv_write(struct amd_view *view, const char *prefix, const struct amd_csv_options *options,
		  struct err *err) MUST_CHECK;
