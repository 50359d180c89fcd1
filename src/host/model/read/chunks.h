/*
 * The chunks of a recording, as parts of a model.
 */
#pragma once

#include "host/model/model.h"

/* Reads all chunks.  Chunks that contradict earlier ones are skipped and counted. */
int model_read_chunks(struct model *model) MUST_CHECK;
/* All readings of a chunk of usage, or none of them. */
int usage_read_chunk(struct model *model, const struct chunk *chunk) MUST_CHECK;
void model_process_free(struct model_process *process);
