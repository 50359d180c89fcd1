/*
 * Python frames read from outside: of threads that sleep with their stacks, and of threads that run
 * as they are in that moment.
 */
#pragma once

#include "host/sampling/followed.h"
#include "host/sampling/python_stacks.h"

struct blocked_python {
	struct python *python; /* whose frames are read; NULL: nobody's */
	struct python_stacks stacks;
	size_t count; /* of the thread that was read last */
	struct kernel_python_frame frames[KERNEL_PYTHON_FRAMES];
};

/* NULL where there is no Python, or none that is known: `limits` says why then. */
struct blocked_python *blocked_python_open(const struct space *space, char *limits, size_t room);
void blocked_python_close(struct blocked_python *python);

/* For processes that are followed: it reads the Python of this one from now on, which stays the
 * process's own.  `limits` says why there is none that could be read, or is "". */
void blocked_python_use(struct blocked_python *python, struct followed *process, char *limits,
			size_t room);

/* NULL is allowed, and does nothing. */
void blocked_python_read(struct blocked_python *python, pid_t pid, pid_t tid);

/* The sample with the frames that were read last; the sample itself where there are none.  Lives
 * until the next one. */
const struct sample *blocked_python_join(struct blocked_python *python,
					 const struct sample *sample);
