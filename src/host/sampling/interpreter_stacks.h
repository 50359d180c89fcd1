/*
 * Interpreters' frames on their way to their samples: kernel programs send them first, in a record
 * of their own; for the other samplers, limpet reads them from outside.
 */
#pragma once

#include "shared/wire/kernel.h"

#include "host/interpreter/interpreter.h"

/* Zero is empty. */
struct interpreter_stacks {
	struct sample **held; /* the last record of each processor */
	size_t count;
	struct sample *merged;
};

/* A record of KERNEL_EVENT_INTERPRETED, whose size was checked.  0 or -ENOMEM. */
int interpreter_stacks_hold(struct interpreter_stacks *stacks,
			    const struct sample *record) MUST_CHECK;

/* The frames sent for this record; NULL: none. */
const struct sample *interpreter_stacks_held(const struct interpreter_stacks *stacks,
					     const struct sample *record);

/* The sample with the frames sent for it; unchanged where there are none (NULL: no interpreter), or
 * without memory.  Valid until the next one. */
const struct sample *interpreter_stacks_merge(struct interpreter_stacks *stacks,
					      struct interpreter *interpreter,
					      const struct sample *sample);

/* The same with given frames. */
const struct sample *interpreter_stacks_join(struct interpreter_stacks *stacks,
					     struct interpreter *interpreter,
					     const struct sample *sample,
					     const struct interpreted_frame *frames, size_t count);

void interpreter_stacks_done(struct interpreter_stacks *stacks);

/* Frames read from outside: of sleeping threads with their stacks, and of running threads as they
 * are at that moment.  Zero is: nothing is read. */
struct outside_frames {
	struct interpreter *interpreter; /* the one to read; NULL: none */
	struct interpreter_stacks stacks;
	size_t count; /* of the last thread read */
	struct interpreted_frame frames[INTERPRETED_FRAMES_MAX];
};

/* Opens the interpreter of this space, which the caller closes.  `why`: why its functions are not
 * seen; "": they are, or there are none. */
void outside_frames_open(struct outside_frames *ret, const struct space *space, char *why,
			 size_t room);
/* The reason where interpreter_open() has returned r, err and this interpreter. */
void outside_frames_explain(const struct space *space, const struct interpreter *interpreter, int r,
			    const struct err *err, char *why, size_t room);

/* Reads this interpreter from now on, if its threads can be told apart.  NULL: none. */
void outside_frames_use(struct outside_frames *self, struct interpreter *interpreter);

/* Reads a thread's frames now. */
void outside_frames_read(struct outside_frames *self, pid_t pid, pid_t tid);

/* The sample with the frames read last; the sample itself where there are none.  Valid until the
 * next one. */
const struct sample *outside_frames_join(struct outside_frames *self, const struct sample *sample);
