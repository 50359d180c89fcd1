/*
 * One attached process, as both attach libraries have it: limpet's handle, and a way to see that
 * the process has ended.
 */
#pragma once

#include "outcome.h"

#include <stdbool.h>

struct limpet_rocprofv3;

struct visit {
	struct limpet *target;            /* with tools alone */
	struct limpet_rocprofv3 *tracing; /* with limpet's tracer */
	int pid, pidfd;
};

/* Attaches the tools that the environment names; with_children: to the descendants as well. */
rocattach_status_t visit_begin(struct visit *ret, int pid, bool with_children,
			       struct outcome *outcome);

/* Detaches and frees, also when it fails. */
rocattach_status_t visit_end(struct visit *visit, struct outcome *outcome);

/* There is something to end. */
bool visit_is_open(const struct visit *visit);

/* The process has ended: its number may be reused. */
bool visit_is_over(const struct visit *visit);
