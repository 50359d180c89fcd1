/*
 * Retries with a program that has only just been started: until its loader and its C library are
 * done, or its exec is, a refusal is not final.
 */
#pragma once

#include "host/core/err.h"
#include "host/process/process.h"

struct start_wait {
	uint64_t deadline_ns;
	long pause_ns;
};

void start_wait_begin(struct start_wait *ret, uint64_t limit_ns);

/*
 * After an attach that failed with err: true when it may well succeed a few milliseconds later.
 * False when the refusal is final, the time is over, the process has ended, or a signal requests
 * limpet's end.  looked_at is the process as the attach read it.
 */
bool start_wait_more(struct start_wait *wait, const struct process *looked_at, int pidfd,
		     const struct err *err);
