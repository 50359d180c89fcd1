/*
 * The way in that stops nothing: a process that asked for it, with limpet's register library in it,
 * listens.  It is open to those who may use ptrace on the process, and to nobody else.
 */
#pragma once

#include "host/attach/attach.h"

/* Does the process listen?  Asked by connecting and leaving at once; no right is needed. */
bool listener_exists(pid_t pid);

/* The verdict whether a process can be attached: as process_judge(), unless a stop would not help
 * and it has a listener that lets us in. */
int listener_judge(const struct process *process, struct err *err) MUST_CHECK;

/*
 * Enters the process of the attachment's target, of which target_meet() is enough.  0: the agent
 * listens on the link; context and report are filled in, with the control thread as the target
 * counts it.  -ENOENT: there is no listener, it is busy, or not for us; nothing was done, and
 * ptrace may still work.
 */
int listener_connect(struct attachment *self, const struct attach_options *options) MUST_CHECK;

/* Why a listener refused, for the report; "" where it did not. */
const char *listener_refusal_text(enum listener_refusal refusal);
