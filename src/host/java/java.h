/*
 * The Java virtual machine of one process, as far as its stacks need it: rules for the code that
 * HotSpot made, found from outside.  Its description of itself has the location of that code and
 * the sizes of its frames; where they are made and removed is decoded from the instructions.
 */
#pragma once

#include "host/core/err.h"
#include "host/unwind/space.h"

struct java;

/* -ENOENT: there is no libjvm.so.  -EOPNOTSUPP: its layout is not understood, or limpet does not
 * support this machine; -EACCES, -EPERM, ...: its memory cannot be read; err explains it. */
int java_open(struct java **ret, const struct space *space, pid_t pid, struct err *err) MUST_CHECK;
void java_close(struct java *java);

/* Reads the code again, unless that was done a moment ago, and sets the space's rules:
 * space->generation shows whether they changed.  -EAGAIN: too early; -ENOMEM and others: they are
 * unchanged. */
int java_refresh(struct java *java, struct space *space) MUST_CHECK;

/* -XX:+PreserveFramePointer, on its command line or in Java's variables for options.  False if
 * neither can be read. */
bool java_keeps_frame_pointers(pid_t pid);

/* The same for consecutive options, each ended by a zero or a blank; the last one counts.
 * Variables: only those that Java reads. */
bool java_options_keep_frame_pointers(const char *bytes, size_t size, bool are_variables,
				      bool is_so_far);
