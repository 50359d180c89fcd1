/*
 * The tables that rocprofv3 prints at the end (-S, -D, --summary-groups).
 */
#pragma once

#include "host/export/amd/view/stats.h"

#include <stdio.h>

struct amd_summary_options {
	bool is_whole;             /* -S: one table of all domains */
	bool is_per_domain;        /* -D: one table each */
	const char *const *groups; /* regular expressions that match whole names of domains; one
				      table each */
	size_t group_count;
	const char *unit; /* sec, msec, usec, nsec; NULL: nsec */
	bool is_indented; /* as on a terminal */
};

/* -EINVAL: the unit or an expression is invalid, with the reason in err.  A group without events
 * has no table: ret_empty gets the first such (NULL: none). */
/* Groups that are no regular expressions: -EINVAL. */
int amd_summary_check(const struct amd_summary_options *options, struct err *err) MUST_CHECK;

int amd_summary_write(const struct amd_stats *stats, const struct amd_summary_options *options,
		      FILE *out, const char **ret_empty, struct err *err) MUST_CHECK;
