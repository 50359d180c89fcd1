/*
 * Names of the frames of samples.
 */
#pragma once

#include "host/model/samples/samples.h"

/* The chunk of names; -EPROTO: it makes no sense. */
int samples_take_names(struct model *model, struct cursor cursor, uint64_t at) MUST_CHECK;
/* Names a frame without a symbol by its location. */
int sample_name_by_location(struct samples *samples, struct sample_frame *frame) MUST_CHECK;
