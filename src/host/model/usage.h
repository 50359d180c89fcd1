/*
 * The usage of a recording's processes: readings of each, in the order of the file, which for one
 * process is that of their times.
 */
#pragma once

#include "host/model/model.h"
#include "host/recording/usage_chunks.h"

/* For the reader.  All readings of a chunk, or none of them. */
int usage_take_chunk(struct model *model, const struct chunk *chunk) MUST_CHECK;
