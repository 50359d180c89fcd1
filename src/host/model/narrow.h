/*
 * A part of a recording: from then on the model has nothing else.
 */
#pragma once

#include "host/model/samples/samples.h"

/* From `from_ns` to `to_ns` after the recording's beginning (span.h); UINT64_MAX: to its end.
 * Samples are counted again.  A sample partly inside keeps that part of its weight; calls are
 * inside if they begin there, windows if their middle is there.  0, or -ENOMEM. */
int model_narrow(struct model *model, uint64_t from_ns, uint64_t to_ns) MUST_CHECK;
/* The same between two moments of CLOCK_BOOTTIME. */
int model_narrow_between(struct model *model, uint64_t from_ns, uint64_t to_ns) MUST_CHECK;

/* For visitors of the model: false when nothing of it is in the part. */
bool narrow_sample(const struct model *model, struct sample_event *event);
struct window;
bool narrow_has_window(const struct model *model, const struct window *window);
bool narrow_has_call(const struct model *model, const struct call *call);
