/*
 * Curves of a recording by the looks at its processes that it holds.
 */
#pragma once

#include "host/model/usage.h"
#include "host/ui/store/bins.h"
#include "host/ui/store/curves.h"

/* Of all processes together, a point for each bin; what is not known is NAN.  0 or -ENOMEM. */
int usage_curves_fill(const struct model *model, const struct bins *bins,
		      struct curve_point *ret) MUST_CHECK;
