/*
 * Stacks whose walk in the kernel met memory that was not present: KERNEL_REST of
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

/* ret: the same record with frames only, in a union whole_sample.  Frames found later are a guess,
 * and kept only if they lead to the outermost one.  space may be NULL. */
void stack_rest_walk(const struct sample *record, const struct space *space, struct sample *ret);
