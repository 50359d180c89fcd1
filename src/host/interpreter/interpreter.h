/*
 * The interpreter of one process: resolves its frames to locations (locations.h), and merges them
 * into native frames.  Each language is a folder here, and a line in kinds.def.
 */
#pragma once

#include "shared/wire/kernel.h"

#include "host/core/err.h"
#include "host/unwind/space.h"

struct interpreter;

/* Who reads frames. */
enum interpreter_reader {
	READER_KERNEL,  /* kernel programs: of every language */
	READER_OUTSIDE, /* limpet, from outside: of languages with struct interpreter_threads */
};

/* -ENOENT: there is none.  -EAGAIN: it is still starting.  -EOPNOTSUPP: unknown version; -EACCES,
 * -EPERM, ...: its memory cannot be read; err has the reason. */
int interpreter_open(struct interpreter **ret, const struct space *space, pid_t pid,
		     enum interpreter_reader reader, struct err *err) MUST_CHECK;
void interpreter_close(struct interpreter *interpreter);

/* Its language, "Ruby". */
const char *interpreter_title(const struct interpreter *interpreter);

/* For kernel programs. */
const struct kernel_interpreter *interpreter_walk_layout(const struct interpreter *interpreter);

/* The first language in this space by names of files: one that READER_OUTSIDE reads, or one that it
 * does not.  NULL: none. */
const char *interpreter_title_in(const struct space *space, bool is_read_outside);

/* Whether a file of that name may be an interpreter that READER_OUTSIDE reads, or one needed to
 * read it. */
bool interpreter_uses_file(const char *path);

/* The number of a frame's location; 0: it is not shown, or there is no memory. */
uint64_t interpreter_location(struct interpreter *interpreter,
			      const struct interpreted_frame *frame);

/* User frames of a sample, innermost first: locations replace the interpreter's loop.  `ret` has
 * room for both.  Returns their number. */
size_t interpreter_merge(struct interpreter *interpreter, const struct sample *sample,
			 const struct interpreted_frame *frames, size_t count, __u64 *ret);

/* Whether one of a sample's user frames is the interpreter's loop. */
bool interpreter_runs_in(const struct interpreter *interpreter, const struct sample *sample);

/* Whether a stack, merged, has locations. */
bool sample_has_interpreted(const struct sample *sample);

/* The lock that a thread needs to run functions. */
struct interpreter_lock {
	pid_t holder;        /* its number in its own namespace; 0: not held */
	uint64_t start, end; /* where the lock is: a thread in a futex call there waits for it */
};

/* Of an interpreter whose frames limpet can read from outside.  `tid` is the number in the thread's
 * own namespace. */
struct interpreter_threads {
	/* Why its threads cannot be told apart, and so not be read; NULL: they can. */
	const char *(*why_unknown)(const struct interpreter *self);
	/* The present frames of a thread, as many as there is room for.  Exact if the thread sleeps
	 * meanwhile. */
	size_t (*read_frames)(struct interpreter *self, pid_t tid, struct interpreted_frame *ret,
			      size_t room);
	/* The application's name for a thread.  False: it has none, or it cannot be read. */
	bool (*read_name)(struct interpreter *self, pid_t tid, char *ret, size_t room);
	/* The address of a thread's state, and the value of its id there.  False: it runs nothing
	 * now. */
	bool (*find)(struct interpreter *self, pid_t tid, uint64_t *ret_state,
		     uint64_t *ret_identity);
	/* False: not possible for this version. */
	bool (*read_lock)(const struct interpreter *self, struct interpreter_lock *ret);
	/* Whether a file of that path is needed besides the interpreter's own. */
	bool (*needs_file)(const char *path);
};

/* NULL: only kernel programs read its frames. */
const struct interpreter_threads *interpreter_threads(const struct interpreter *interpreter);
