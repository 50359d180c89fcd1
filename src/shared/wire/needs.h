/*
 * The system calls that attaching makes in the target, limpet's and libc's for it.  Each is checked
 * against seccomp filters; if a filter cannot be read, a throw-away process tries them.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* When a call is made. */
enum need_when {
	NEED_ALWAYS = 1,
	NEED_FOR_VARIABLES = 2, /* the environment is changed */
	NEED_WITHOUT_PROC = 4,  /* the target's root has no /proc */
	NEED_FOR_TRACING = 8,   /* limpet's own tracer will be loaded */
	NEED_TOLD = 16,         /* setuid in limpet's threads, too (target/runtime/broadcast.c) */
	NEED_UNFILTERED = 32,   /* never: only threads without a filter make it */
	NEED_FOR_NOTICE = 64,   /* limpet will be notified of changes of rights */
	NEED_FOR_STACKS = 128,  /* threads will read the frames of their Python */
	NEED_FOR_TABLE = 256,   /* limpet's threads have descriptors of their own */
};

struct need {
	enum need_when when;
	long nr;
	const char *name;
	bool may_fail; /* an error is survived, being killed is not */
	uint64_t args[6];
};

extern const struct need needs[];
extern const size_t needs_count;

/* The name of a call in the list, or "?". */
const char *needs_name(long nr);
