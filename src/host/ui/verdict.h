/*
 * Whether a process can be attached to.  A file of its own: what the attaching half of limpet and
 * the reading half call things has names in common.
 */
#pragma once

#include "host/core/json.h"
#include "host/process/process.h"

/* The members "attachable", "error", "why" and "fix". */
void verdict_write(struct json *json, const struct process *process);
