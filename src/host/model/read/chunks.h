/*
 * The chunks of a recording, as parts of a model.  Host only.
 */
#pragma once

#include "host/model/model.h"

/* All that the reader has.  What contradicts what came before is left out and counted. */
int model_read_chunks(struct model *model) MUST_CHECK;
void model_process_free(struct model_process *process);
