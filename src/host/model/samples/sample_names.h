/*
 * Names of the frames of samples.  Host only.
 */
#pragma once

#include "host/model/samples/samples.h"

/* The chunk of names; -EPROTO: it makes no sense. */
int samples_take_names(struct model *model, struct cursor cursor, uint64_t at) MUST_CHECK;
/* A frame that nobody has named is called by its location. */
int sample_name_by_location(struct samples *samples, struct sample_frame *frame) MUST_CHECK;
