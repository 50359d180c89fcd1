/*
 * Whether a process can be attached to.  A separate file: the headers for attaching and for reading
 * have conflicting names.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/process/inspect/process.h"

/* 0, or the refusal with the missing right, and the command that gives it.  of_others_only: only
 * for other users' processes, as some of one's own can be sampled without being attachable. */
int verdict_rights(pid_t pid, bool of_others_only, struct err *err) MUST_CHECK;

/* The members "attachable", "error", "why" and "fix". */
void verdict_write(struct json *json, const struct process *process);
