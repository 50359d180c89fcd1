/*
 * Stacks of calls that a recording holds as addresses, as older ones do: they get numbers among
 * those of its samples when it is opened, and names when unnamed samples get them.
 */
#pragma once

#include "host/model/model.h"

struct raw_stacks;

/* Once, when the recording has been read: numbers each.  -ENOMEM. */
int raw_stacks_number(struct model *model) MUST_CHECK;
/* The number of one: STACK_NONE where it has none. */
uint32_t raw_stack_find(const struct model *model, const struct model_process *process,
			const uint64_t *frames, unsigned count);
void raw_stacks_free(struct raw_stacks *stacks);
