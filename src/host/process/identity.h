/*
 * Which process this is, beyond its number: a reused pid or an exec meanwhile is noticed by
 * comparing two.
 */
#pragma once

#include "host/process/auxv.h"

#include <stdbool.h>

struct identity {
	pid_t pid;
	uint64_t start_tick;
	struct auxv auxv; /* empty when it may not be read */
	bool has_random;
	unsigned char random[16]; /* the bytes at AT_RANDOM: new at each exec */
};

/* Exec ends limpet's threads before it replaces the memory: a process that has lost them and is
 * the same may be in the middle of it for so long. */
#define IDENTITY_SETTLES_NS 1000000000ull

enum identity_change {
	IDENTITY_SAME,
	IDENTITY_REUSED, /* another process has the number now */
	IDENTITY_EXEC,   /* the same process runs another program */
};

/*
 * Reads what the rights allow; -ESRCH when there is no such process.  tid is the thread whose
 * memory is read: pid, unless the first thread has ended.
 */
int identity_read(pid_t pid, pid_t tid, struct identity *ret, struct err *err) MUST_CHECK;

enum identity_change identity_compare(const struct identity *before, const struct identity *now);
