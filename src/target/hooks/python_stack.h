/*
 * The calling thread's Python stack, as a number whose frames are written for the host.
 */
#pragma once

#include "target/hooks/writer.h"

/* Before a session: allows reading frames, once the host has found the interpreter's state. */
void python_stacks_allow(void);

/* Before a session: forgets the numbers of stacks. */
void python_stacks_forget(void);

/* Stops reading frames: the target is about to change its rights, perhaps by a filter that kills
 * threads for the system call that reads frames. */
void python_stacks_stop(void);

/* Between writer_begin() and writer_end(): the number of the stack; 0: the thread runs no Python,
 * the host has not found its state yet (it is then requested), or there are too many stacks. */
uint64_t python_stack(struct writer *writer);

/* Likewise: writes the frames, before the native stack's record. Nothing if the number would be
 * 0. */
void python_frames_write(struct writer *writer);
