/*
 * Whether an attach should work, judged before anything is touched.
 */
#pragma once

#include "host/process/process.h"

/*
 * 0 when nothing prevents an attach; else the error with exit code, cause and the command that
 * mends it (alternatives as further lines of err->fix).  Permanent reasons come before those that a
 * right or some patience mends.
 */
int process_judge(const struct process *process, struct err *err) MUST_CHECK;

/* The few words of a refusal that name the cause: "it is statically linked". */
const char *process_refusal(const struct process *process, const struct err *err);
