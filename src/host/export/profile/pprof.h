/*
 * pprof as bytes, for a caller that sends it.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/model/model.h"

/* Appends all samples of the model, gzipped; without threads samples have no labels.  0 or
 * -ENOMEM. */
int pprof_encode(struct model *model, bool is_by_thread, struct bytes *ret) MUST_CHECK;
