/*
 * The stack of the calling thread's Python, from inside, as a number that the host is told the
 * frames of.
 */
#pragma once

#include "target/hooks/writer.h"

/* Before a session: frames may be read, once the host has told where they are. */
void python_stacks_allow(void);

/* Before a session: no stack has a number. */
void python_stacks_forget(void);

/* The program is about to change its rights, perhaps by a filter that kills whoever makes the
 * system call that frames are read by: no stacks from now on. */
void python_stacks_stop(void);

/* Between writer_begin() and writer_end(): the number of the stack; 0: the thread runs no Python,
 * the host has not found its state yet (it is asked then), or there are too many stacks. */
uint64_t python_stack(struct writer *writer);

/* Likewise: writes the frames themselves, for the stack that is written next.  Nothing where the
 * number would be 0. */
void python_frames_write(struct writer *writer);
