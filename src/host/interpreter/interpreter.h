/*
 * The interpreter of one process, other than Python: resolves its frames, and merges them into
 * native ones.  Each language is a folder here, and a line in kinds.c.
 */
#pragma once

#include "shared/wire/kernel.h"

#include "host/core/err.h"
#include "host/unwind/space.h"

struct interpreter;

/* -ENOENT: there is none.  -EAGAIN: it has not begun yet.  -EOPNOTSUPP: its version is not known;
 * -EACCES, -EPERM, ...: its memory cannot be read; err has the reason. */
int interpreter_open(struct interpreter **ret, const struct space *space, pid_t pid,
		     struct err *err) MUST_CHECK;
void interpreter_close(struct interpreter *interpreter);

/* For kernel programs. */
const struct kernel_interpreter *interpreter_walk_layout(const struct interpreter *interpreter);

/* The language of which a sample of this space may have frames that were not read, by the name of a
 * file; NULL: none. */
const char *interpreter_title_in(const struct space *space);

/* As python_merge(). */
size_t interpreter_merge(struct interpreter *interpreter, const struct sample *sample,
			 const struct kernel_python_frame *frames, size_t count, __u64 *ret);
