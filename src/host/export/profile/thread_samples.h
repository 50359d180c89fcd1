/*
 * The samples of a recording by thread, for formats that list each thread's.
 */
#pragma once

#include "host/model/samples/profile.h"

struct thread_sample {
	uint32_t thread, stack;
	uint64_t time_ns, weight_ns;
	size_t order; /* of the file, which in each thread is that of time */
	enum sample_kind kind;
	enum stack_end end;
	char state;
};

/* Zero is empty. */
struct thread_samples {
	struct thread_sample *items;
	size_t count, room;
	unsigned kinds; /* KIND_BIT() of those to keep */
};

/* Keeps all samples of the kinds.  0 or -ENOMEM. */
int thread_samples_gather(struct thread_samples *self, struct model *model) MUST_CHECK;
/* The end of the thread's samples that begin here. */
size_t thread_samples_end(const struct thread_samples *self, size_t first);
