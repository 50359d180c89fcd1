/*
 * jit-PID.dump: what a runtime tells of the code it makes, with times ("jitdump", the format of
 * perf inject).  It is found by its mapping: the runtime maps one page of the file, so that
 * profilers see it.
 */
#pragma once

#include "host/symbols/jit_names.h"

#include <stdbool.h>
#include <sys/types.h>

#define JITDUMP_MAX (1u << 30) /* bytes that are read; of code nothing is */

/* Followed while it grows.  Zero is one that was not found yet. */
struct jitdump {
	int fd;             /* 0: none; stays open when the runtime closes it */
	uint64_t read;      /* records so far, in bytes */
	uint64_t total;     /* bytes that were looked at */
	bool has_own_clock; /* its times are not those of samples */
	bool is_over;       /* closed by its writer, not to be understood, or too long */
	uint64_t looked_ns; /* what is new now came after this; 0: before */
};

/* Reads what has come since the last time, where it was found.  -EBADMSG when it makes no sense
 * from here on, -ENOMEM. */
int jitdump_read(struct jitdump *dump, struct jit_names *names) MUST_CHECK;

/* The same; looks for it first, among the mappings of the process.  -ENOENT while there is none. */
int jitdump_follow(struct jitdump *dump, pid_t pid, struct jit_names *names) MUST_CHECK;

void jitdump_close(struct jitdump *dump);
