/*
 * pprof as bytes, for those who send it.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/model/model.h"

/* All samples of the model, gzipped, behind what is there; without threads samples have no labels.
 * 0 or -ENOMEM. */
int pprof_encode(struct model *model, bool is_by_thread, struct bytes *ret) MUST_CHECK;
