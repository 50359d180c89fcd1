/*
 * Correlation ids as AMD's files have them: from 1, in the order of the rows; a call and what
 * devices did for it have the same one.
 */
#pragma once

#include "host/core/table.h"
#include "host/model/model.h"

struct correlation {
	struct table causes; /* (process, the model's id): ours, once it was given */
	uint64_t count;      /* given in the present pass */
	bool is_collected;
};

/* Before each pass over the events, which is always the same one: its ids are, too.  `process`: all
 * others are left out; NULL: none is.  0 or -ENOMEM. */
int correlation_begin(struct correlation *correlation, struct model *model,
		      const struct model_process *process) MUST_CHECK;
void correlation_done(struct correlation *correlation);

/* Of the next event of the pass; 0: what caused it is not known. */
uint64_t correlation_next(struct correlation *correlation, const struct model *model,
			  const struct call *call);
