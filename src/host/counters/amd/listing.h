/*
 * The counters that devices of this machine have, by name, for people.
 */
#pragma once

#include "host/counters/amd/definitions.h"

#include <stdio.h>

/* For every device, in the order of the file; if none is known, the reason.  0 or the reason's
 * code. */
int amd_counters_list(FILE *out, const char *folder, struct err *err);

/* The same for programs: calls for each. */
typedef void counter_visitor(unsigned node, const struct amd_counter *counter, void *context);
int amd_counters_visit(const char *folder, counter_visitor *visit, void *context, struct err *err);
