/*
 * A part of a recording: from then on the model has nothing else.
 */
#pragma once

#include "host/model/samples/samples.h"

/* From `from_ns` to `to_ns` after the recording's beginning (span.h); UINT64_MAX: to its end.  What
 * is counted of samples is counted again.  Of a sample that lies in it partly that part of its
 * weight stays; calls are in it where they begin, windows where their middle lies.  0, or
 * -ENOMEM. */
int model_narrow(struct model *model, uint64_t from_ns, uint64_t to_ns) MUST_CHECK;
/* The same between two moments of CLOCK_BOOTTIME. */
int model_narrow_between(struct model *model, uint64_t from_ns, uint64_t to_ns) MUST_CHECK;

/* For those who visit: false where nothing of it lies in the part. */
bool narrow_sample(const struct model *model, struct sample_event *event);
struct window;
bool narrow_has_window(const struct model *model, const struct window *window);
bool narrow_has_call(const struct model *model, const struct call *call);
