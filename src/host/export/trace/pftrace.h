/*
 * Perfetto's trace format, as more than one caller wants it.
 */
#pragma once

#include "host/export/amd/view/agents.h"
#include "host/export/amd/view/amd.h"

#include <stdio.h>

struct pftrace_style {
	struct amd_view *view;
	enum agent_index agent_index;
	bool is_by_stream; /* kernels and copies; else by queue, and by where copies go */
};

int pftrace_write_styled(struct model *model, const struct pftrace_style *style,
			 FILE *out) MUST_CHECK;

/* Does the recording have streams?  Only HIP has them. */
bool pftrace_has_streams(const struct amd_view *view);
