/*
 * Traced calls in place of samples, for everything that shows samples: flame graphs, folded stacks,
 * profiles.  A sample is then all calls of one thread, function and stack; its weight is their
 * allocated bytes, or their time.
 */
#pragma once

#include "host/model/model.h"

/* "1234 bytes allocated, 56 not freed by the end; ...", of such a model. */
void call_view_describe(const struct model *model, char *ret, size_t room);

/* Replaces the model's samples by those of these kinds (KINDS_CALLS, one view's); for memory,
 * SAMPLE_ALLOCATED and SAMPLE_LIVE.  -ENOMEM. */
int model_view_calls(struct model *model, unsigned kinds) MUST_CHECK;
