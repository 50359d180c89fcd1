/*
 * Allocations in the place of samples, so that what shows samples shows them: flame graphs, folded
 * stacks, profiles.  A sample is then all blocks of one thread, function and stack; its weight is
 * their bytes.
 */
#pragma once

#include "host/model/model.h"

/* "1234 bytes allocated, 56 not freed by the end; ...", of such a model. */
void allocations_describe(const struct model *model, char *ret, size_t room);

/* From now on the model has no other samples than those of SAMPLE_ALLOCATED and SAMPLE_LIVE.
 * -ENOMEM. */
int model_view_allocations(struct model *model) MUST_CHECK;
