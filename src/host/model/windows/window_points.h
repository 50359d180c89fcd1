/*
 * Windows as points of a curve in steps, as trace viewers draw counters: a value holds from its
 * time to the next one.
 */
#pragma once

#include "host/model/windows/windows.h"

/* The value is window_rate()'s.  Not 0: no more, please. */
typedef int point_visitor(const struct model_metric *metric, uint64_t time_ns, double value,
			  void *context);

/* Each window at its beginning; if nothing follows it, a count falls to 0 at its end.  Returns the
 * visitor's result, or -ENOMEM. */
int model_each_point(struct model *model, point_visitor *visit, void *context) MUST_CHECK;
