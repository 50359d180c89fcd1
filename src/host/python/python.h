/*
 * The Python of one process: resolves its frames, and merges them into native ones.
 */
#pragma once

#include "shared/wire/kernel.h"

#include "host/core/err.h"
#include "host/unwind/space.h"

struct python;

/* -ENOENT: there is no Python.  -EOPNOTSUPP: its version is not known; -EACCES, -EPERM, ...: its
 * memory cannot be read; err has the reason. */
int python_open(struct python **ret, const struct space *space, pid_t pid,
		struct err *err) MUST_CHECK;
void python_close(struct python *python);

/* For kernel programs. */
const struct kernel_python *python_walk_layout(const struct python *python);

/* Whether its threads can be identified: else its frames cannot be read from outside. */
bool python_knows_threads(const struct python *python);

/* The frames of a thread now, by its number in its own namespace; as many as there is room for.
 * Exact where the thread sleeps all the time. */
size_t python_read_frames(struct python *python, pid_t tid, struct kernel_python_frame *ret,
			  size_t room);

/* The program's name for a thread: that of its threading.Thread.  False: it has none, or it cannot
 * be read. */
bool python_thread_name(struct python *python, pid_t tid, char *ret, size_t room);

/* The address of a thread's state, by its number in its own namespace, and the value of its id.
 * False: it runs no Python now. */
bool python_find_thread(struct python *python, pid_t tid, uint64_t *ret_state,
			uint64_t *ret_identity);

/* Where a frame is, as a number of host/python/locations.h; 0: no memory. */
uint64_t python_location_of(struct python *python, const struct kernel_python_frame *frame);
/* Whether the frame is not Python code but stands between C code and the function it called. */
bool python_is_shim(const struct python *python, const struct kernel_python_frame *frame);

/* The lock that a thread needs to run Python. */
struct python_gil {
	pid_t holder;        /* its number in its own namespace; 0: not held */
	uint64_t start, end; /* where the lock is: a thread in a futex call there wants it */
};

/* False: not possible for this version. */
bool python_gil_read(const struct python *python, struct python_gil *ret);

/* Whether a sample of this space may have Python frames that were not read: a file name is
 * enough. */
bool python_is_in(const struct space *space);

/* Whether one of a sample's user frames is the interpreter's loop. */
bool python_runs_in(struct python *python, const struct sample *sample);

/* User frames of a sample with Python frames among them, innermost first: locations of
 * host/python/locations.h instead of the interpreter's loop.  `ret` has room for both.  How many
 * they are. */
size_t python_merge(struct python *python, const struct sample *sample,
		    const struct kernel_python_frame *frames, size_t count, __u64 *ret);
/* Whether its stack, merged, has frames of Python. */
bool sample_has_python(const struct sample *sample);
