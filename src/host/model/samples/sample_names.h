/*
 * Names of the frames of samples.
 */
#pragma once

#include "host/model/samples/samples.h"

/* Names a frame without a symbol by its location. */
int sample_name_by_location(struct samples *samples, struct sample_frame *frame) MUST_CHECK;
