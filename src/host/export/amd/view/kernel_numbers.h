/*
 * Kernels by numbers without gaps, as AMD's readers index their lists by them: from 1, in the order
 * of the recording's own numbers, which are spread over a wide range.
 */
#pragma once

#include "host/model/model.h"

struct kernel_list {
	uint64_t *ids; /* the recording's, ascending */
	size_t count;
};

struct kernel_numbers {
	struct kernel_list *processes; /* by their numbers */
	uint32_t count;
};

/* Of all kernels that have names.  0 or -ENOMEM. */
int kernel_numbers_init(struct kernel_numbers *ret, const struct model *model) MUST_CHECK;
void kernel_numbers_done(struct kernel_numbers *numbers);

/* 0: it has no name. */
uint64_t kernel_number(const struct kernel_numbers *numbers, const struct model_process *process,
		       uint64_t id);
