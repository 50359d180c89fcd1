/*
 * Python frames read from outside: of sleeping threads with their stacks, and of running threads as
 * they are at that moment.
 */
#pragma once

#include "host/sampling/followed.h"
#include "host/sampling/python_stacks.h"

struct blocked_python {
	struct python *python; /* the interpreter to read; NULL: none */
	struct python_stacks stacks;
	size_t count; /* of the last thread read */
	struct kernel_python_frame frames[KERNEL_PYTHON_FRAMES];
};

/* NULL where there is no Python, or none that is known: `limits` then has the reason. */
struct blocked_python *blocked_python_open(const struct space *space, char *limits, size_t room);
void blocked_python_close(struct blocked_python *python);

/* For followed processes: reads the Python of this one from now on, which the process still owns.
 * `limits` has the reason if it cannot be read, or is "". */
void blocked_python_use(struct blocked_python *python, struct followed *process, char *limits,
			size_t room);

/* NULL is allowed: does nothing. */
void blocked_python_read(struct blocked_python *python, pid_t pid, pid_t tid);

/* The sample with the last frames read; the sample itself where there are none.  Valid until the
 * next one. */
const struct sample *blocked_python_join(struct blocked_python *python,
					 const struct sample *sample);
