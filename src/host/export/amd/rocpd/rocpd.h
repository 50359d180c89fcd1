/*
 * rocpd: AMD's database of a trace.
 */
#pragma once

#include "host/export/amd/view/amd.h"

/* Writes everything in the view into the file, which must exist and be empty; `shown` is its name
 * for messages. */
int rocpd_write(struct amd_view *view, const char *path, const char *shown,
		struct err *err) MUST_CHECK;

/* Several recordings in one set of tables, for AMD's views: like several processes of one file.
 * Their times must be of one clock.  The guid is the first one's. */
struct rocpd;

int rocpd_ranks_open(struct rocpd **ret, const char *path, const char *shown, struct model *first,
		     struct err *err) MUST_CHECK;
int rocpd_ranks_add(struct rocpd *ranks, struct model *model) MUST_CHECK;
/* Indexes, views, and the end. */
int rocpd_ranks_finish(struct rocpd *ranks) MUST_CHECK;
void rocpd_ranks_close(struct rocpd *ranks);
