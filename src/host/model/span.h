/*
 * When a recording begins and ends: the time that ranges of it are counted from.
 */
#pragma once

#include "host/model/model.h"

/* CLOCK_BOOTTIME. */
struct model_span {
	uint64_t begin_ns, end_ns;
};

/* From the beginning of the first sample, call or window to the end of the last one; without any,
 * from the first reading of the clock to the last. */
struct model_span model_span(const struct model *model);
