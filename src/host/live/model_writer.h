/*
 * Writes the samples of models into a recording, one model behind another: the numbers of a model
 * follow those of the models before it.
 */
#pragma once

#include "host/model/model.h"
#include "host/recording/pack_samples.h"
#include "host/recording/recording.h"

struct model_writer {
	struct recording *file;
	const struct samples *samples; /* of the present model */
	const uint32_t *codes; /* the numbers of its codes, which are written; NULL: none is */
	uint32_t processes, frames, stacks; /* of the models before it */
	bool skips_unnamed;                 /* frames without names have no entry */
	/* The chunk that is filled. */
	struct bytes bytes;
	struct sample_packer packer;
	uint32_t count;
};

void model_writer_begin(struct model_writer *self);
/* Writes the chunk, unless it is empty; `first`: the number of its first item, 0 where those have
 * none. */
int model_writer_end(struct model_writer *self, enum chunk_kind kind, uint32_t first,
		     struct err *err) MUST_CHECK;
void model_writer_put_code(struct model_writer *self, uint32_t index);
/* Has the chunk enough bytes? */
bool model_writer_is_full(const struct model_writer *self);

/* Frames, stacks, the names of frames, and before them codes that are not written. */
int model_writer_stacks(struct model_writer *self, struct err *err) MUST_CHECK;
/* After model_writer_begin(); the last ones are written by model_writer_end(). */
int model_writer_sample(struct model_writer *self, const struct recorded_sample *sample,
			struct err *err) MUST_CHECK;
