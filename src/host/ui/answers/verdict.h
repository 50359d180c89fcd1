/*
 * Whether a process can be attached to.  A file of its own: what the attaching half of limpet and
 * the reading half call things has names in common.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/process/process.h"

/* 0, or the refusal with the right that is missing, and the command that gives it.  Of processes of
 * others only, where that is said: of one's own some can be sampled that cannot be attached to. */
int verdict_rights(pid_t pid, bool of_others_only, struct err *err) MUST_CHECK;

/* The members "attachable", "error", "why" and "fix". */
void verdict_write(struct json *json, const struct process *process);
