/*
 * Python frames on their way to their samples: kernel programs send them first, in a record of
 * their own.
 */
#pragma once

#include "shared/wire/kernel.h"

#include "host/interpreter/interpreter.h"
#include "host/python/python.h"

/* Zero is empty. */
struct python_stacks {
	struct sample **held; /* the last one of each processor */
	size_t count;
	struct sample *merged;
};

/* A record of KERNEL_EVENT_PYTHON, whose size was checked.  0 or -ENOMEM. */
int python_stacks_hold(struct python_stacks *stacks, const struct sample *record) MUST_CHECK;

/* The frames sent for this record; NULL: none. */
const struct sample *python_stacks_held(const struct python_stacks *stacks,
					const struct sample *record);

/* The sample with its Python frames; unchanged where it has none, or without memory.  Valid until
 * the next one. */
const struct sample *python_stacks_merge(struct python_stacks *stacks, struct python *python,
					 const struct sample *sample);

/* The same for another language. */
const struct sample *python_stacks_merge_other(struct python_stacks *stacks,
					       struct interpreter *interpreter,
					       const struct sample *sample);

/* The same with given frames. */
const struct sample *python_stacks_join(struct python_stacks *stacks, struct python *python,
					const struct sample *sample,
					const struct kernel_python_frame *frames, size_t count);

void python_stacks_done(struct python_stacks *stacks);
