/*
 * Whether an attach should work, judged before anything is touched.
 */
#pragma once

#include "host/process/inspect/process.h"

/*
 * 0 when nothing prevents an attach; else the error with exit code, cause and the command that
 * mends it (alternatives as further lines of err->fix).  Permanent reasons come before those that a
 * right or some patience mends.
 */
int process_judge(const struct process *process, struct err *err) MUST_CHECK;

/* Private to attachable.c and permission.c: begins a refusal, "cannot attach to 4242
 * (redis-server):
 * ...", with its exit code; returns the code.  0, or the refusal with the one right that is
 * missing. */
int refuse(const struct process *process, enum exit_code exit, const char *what, struct err *err);
int permission_judge(const struct process *process, struct err *err);

/* The few words of a refusal that name the cause: "it is statically linked". */
const char *process_refusal(const struct process *process, const struct err *err);
