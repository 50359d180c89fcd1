/*
 * The shown part of the samples: frames of one language only, files with their folders.
 */
#pragma once

#include "host/model/samples/languages.h"
#include "host/model/samples/samples.h"

/* Removes frames of other languages from the stacks, permanently; samples without any left are no
 * longer visited, except for native ones.  Returns how many are still visited; or -ENOMEM. */
int64_t model_show_only(struct model *model, unsigned language) MUST_CHECK;

/* Code is called by its whole path. */
void model_show_paths(struct model *model);
