/*
 * Traced calls in the place of samples, so that what shows samples shows them: flame graphs, folded
 * stacks, profiles.  A sample is then all calls of one thread, function and stack; its weight is
 * the bytes that they allocated, or the time that they took.
 */
#pragma once

#include "host/model/model.h"

/* "1234 bytes allocated, 56 not freed by the end; ...", of such a model. */
void call_view_describe(const struct model *model, char *ret, size_t room);

/* From now on the model has no other samples than those of these kinds (KINDS_CALLS, one view's);
 * for those of memory, SAMPLE_ALLOCATED and SAMPLE_LIVE.  -ENOMEM. */
int model_view_calls(struct model *model, unsigned kinds) MUST_CHECK;
