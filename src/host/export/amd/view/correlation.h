/*
 * Correlation ids for AMD's files: from 1, in the order of the rows; a call and the work that it
 * caused share one.
 */
#pragma once

#include "host/core/table.h"
#include "host/model/model.h"

struct correlation {
	struct table causes; /* (process, the model's id): the assigned id */
	uint64_t count;      /* assigned in the present pass */
	bool is_collected;
};

/* Before each pass over the events, which is always the same: so are its ids.  `process`: only this
 * one; NULL: all.  0 or -ENOMEM. */
int correlation_begin(struct correlation *correlation, struct model *model,
		      const struct model_process *process) MUST_CHECK;
void correlation_done(struct correlation *correlation);

/* Of the next event of the pass; 0: its cause is not known. */
uint64_t correlation_next(struct correlation *correlation, const struct call *call);
