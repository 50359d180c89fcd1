/*
 * The way in that needs no ptrace and stops nothing: a process with limpet's register library in it
 * lets in its own user and root.
 */
#pragma once

#include "host/attach/attach.h"

/* Does the process listen?  Asked by connecting and leaving at once; no right is needed. */
bool door_exists(pid_t pid);

/* The verdict whether a process can be attached: as process_judge(), unless it has a door that is
 * open to us. */
int door_judge(const struct process *process, struct err *err) MUST_CHECK;

/*
 * Enters the process of the attachment's target, of which target_meet() is enough.  0: the agent
 * listens on the link; context and report are filled in, with the control thread as the target
 * counts it.  -ENOENT: there is no door, or not for us; nothing was done.  Other -errno: it is
 * busy, or ended.
 */
int door_open(struct attachment *self, const struct attach_options *options,
	      struct err *err) MUST_CHECK;
