/*
 * Reading a recording into a model: private to this folder, but for tests.
 */
#pragma once

#include "host/model/model.h"

/* Reads all chunks.  Chunks that contradict earlier ones are skipped and counted. */
int model_read_chunks(struct model *model) MUST_CHECK;
/* All readings of a chunk of usage, or none of them. */
int usage_read_chunk(struct model *model, const struct chunk *chunk) MUST_CHECK;
void model_process_free(struct model_process *process);

/* The index has the locations of each thread's records in the file, with their earliest beginnings.
 * Adds one chunk.  -EPROTO when its records make no sense. */
int index_records(struct model *model, struct model_thread *thread, uint64_t at,
		  const struct records_head *head, struct cursor records) MUST_CHECK;
/* After the last one: each location gets the least beginning of all that follow. */
void index_finish(struct model_thread *thread);

/* After the last clock: how ticks become nanoseconds. */
void model_find_slope(struct model *model);

/* All threads' calls as they were recorded, in the order of their beginnings. */
int merge_each_call(struct model *model, call_visitor *visit, void *context) MUST_CHECK;
