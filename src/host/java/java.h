/*
 * The Java virtual machine of one process, as far as its stacks need it: rules for the code that
 * HotSpot made, found from outside.  Its own description of itself tells where that code is and how
 * large its frames are; where they are built and left is seen in the instructions.
 */
#pragma once

#include "host/core/err.h"
#include "host/unwind/space.h"

struct java;

/* -ENOENT: there is no libjvm.so.  -EOPNOTSUPP: it is not understood, or nobody has taught limpet
 * this machine; -EACCES, -EPERM, ...: its memory cannot be read; err says so for people. */
int java_open(struct java **ret, const struct space *space, pid_t pid, struct err *err) MUST_CHECK;
void java_close(struct java *java);

/* Looks at the code again, unless that was done a moment ago, and gives the space its rules:
 * space->generation tells whether they changed.  -EAGAIN: it was; -ENOMEM and others: they are what
 * they were. */
int java_refresh(struct java *java, struct space *space) MUST_CHECK;
