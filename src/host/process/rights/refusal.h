/*
 * Private to attachable.c and permission.c: how a refusal is begun.
 */
#pragma once

#include "host/process/process.h"

/* "cannot attach to 4242 (redis-server): ...", with its exit code; returns the code. */
int refuse(const struct process *process, enum exit_code exit, const char *what, struct err *err);

/* 0, or the refusal with the one right that is missing. */
int permission_judge(const struct process *process, struct err *err);
