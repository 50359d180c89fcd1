/*
 * Stacks that kernel programs sent for the host to walk: KERNEL_RAW and KERNEL_REST of
 * shared/wire/kernel.h.
 */
#pragma once

#include "shared/wire/kernel.h"

struct space;

/* A sample with room for the maximum of frames. */
union whole_sample {
	struct sample sample;
	unsigned char room[sizeof(struct sample) +
			   (SAMPLE_FRAMES_MAX + KERNEL_FRAMES_MAX) * sizeof(__u64)];
};

/* Walk the stack of a record of that kind.  ret: the same record with frames only, in a union
 * whole_sample.  space may be NULL. */
void raw_stack_walk(const struct sample *record, const struct space *space, struct sample *ret);
void stack_rest_walk(const struct sample *record, const struct space *space, struct sample *ret);
