/*
 * Curves of a recording from its readings of processes.
 */
#pragma once

#include "host/model/model.h"
#include "host/ui/store/bins.h"
#include "host/ui/store/curves.h"

/* For all processes together, a point for each bin; NAN if unknown.  0 or -ENOMEM. */
int usage_curves_fill(const struct model *model, const struct bins *bins,
		      struct curve_point *ret) MUST_CHECK;
