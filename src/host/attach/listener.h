/*
 * The attach that stops nothing: a process that enabled it, with limpet's register library in it,
 * listens for hosts.  It accepts only hosts that may use ptrace on the process.
 */
#pragma once

#include "host/attach/attachment.h"

/* Does the process listen?  Connects and disconnects at once; no right is needed. */
bool listener_exists(pid_t pid);

/* Judges whether limpet can attach: as process_judge(), but where a stop would be of no use a
 * listener that accepts limpet is enough. */
int listener_judge(const struct process *process, struct err *err) MUST_CHECK;

/*
 * Attaches to the attachment's target, for which target_identify() is enough.  0: the agent listens
 * on the link; context and report are filled in, with the control thread in the target's numbers.
 * -ENOENT: there is no listener, it is busy, or it refuses limpet; nothing was done, and ptrace may
 * still work.
 */
int listener_connect(struct attachment *self, const struct attach_options *options) MUST_CHECK;

/* Why a listener refused, for the report; "" where it did not. */
const char *listener_refusal_text(enum listener_refusal refusal);
