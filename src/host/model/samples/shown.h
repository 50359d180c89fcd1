/*
 * What of the samples is shown: frames of one language only, files with their folders.
 */
#pragma once

#include "host/model/samples/languages.h"
#include "host/model/samples/samples.h"

/* Frames of other languages leave the stacks, once for all; samples that have none left are not
 * visited any more, except where native ones are asked for.  How many are visited still; or
 * -ENOMEM. */
int64_t model_show_only(struct model *model, unsigned language) MUST_CHECK;

/* Code is called by its whole path. */
void model_show_paths(struct model *model);
