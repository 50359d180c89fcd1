/*
 * /proc/PID/task/TID/syscall as values: the call a thread waits in, with its arguments.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct blocked_call {
	bool is_known; /* false: the thread was running, or not in a call */
	long nr;
	uint64_t args[6];
	uint64_t stack, ip; /* ip is behind the system call instruction */
};

/* Parses the text of the file, which ends with a zero. */
void blocked_call_parse(const char *text, struct blocked_call *ret);
