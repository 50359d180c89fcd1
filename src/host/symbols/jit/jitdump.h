/*
 * jit-PID.dump: a runtime's description of the code it generates, with times ("jitdump", the format
 * of perf inject).  It is found by its mapping: the runtime maps one page of the file for
 * profilers.
 */
#pragma once

#include "host/symbols/jit/jit_names.h"

#include <stdbool.h>
#include <sys/types.h>

#define JITDUMP_MAX (1u << 30) /* bytes that are read; of code nothing is */

/* Followed while it grows.  Zero is one that was not found yet. */
struct jitdump {
	int fd;             /* 0: none; stays open when the runtime closes it */
	uint64_t read;      /* records so far, in bytes */
	uint64_t total;     /* bytes read */
	bool has_own_clock; /* its times are not those of samples */
	bool is_over;       /* closed by its writer, not to be understood, or too long */
	uint64_t looked_ns; /* new entries came after this; 0: before */
};

/* Reads what was added since the last time, if the file was found.  -EBADMSG when it is invalid
 * from here on, -ENOMEM. */
int jitdump_read(struct jitdump *dump, struct jit_names *names) MUST_CHECK;

/* The same; first finds it among the mappings of the process.  -ENOENT while there is none. */
int jitdump_follow(struct jitdump *dump, pid_t pid, struct jit_names *names) MUST_CHECK;

void jitdump_close(struct jitdump *dump);
