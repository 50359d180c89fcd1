/*
 * The locations of each thread's records in the file, with their earliest beginnings.
 */
#pragma once

#include "host/model/model.h"

/* Notes one chunk.  -EPROTO when its records make no sense. */
int index_records(struct model *model, struct model_thread *thread, uint64_t at,
		  const struct records_head *head, struct cursor records) MUST_CHECK;

/* After the last one: each location learns the least beginning of all that follow. */
void index_finish(struct model_thread *thread);

/* After the last clock: how ticks become nanoseconds. */
void model_find_slope(struct model *model);
