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
