/*
 * The auxiliary vector of a process: the kernel's data for it at exec.  Bytes, so that two can be
 * compared.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

#define AUXV_MAX_BYTES 1024

struct auxv {
	size_t size; /* bytes read, a multiple of 16 */
	unsigned char bytes[AUXV_MAX_BYTES];
};

/* From bytes that may be cut: a partial entry at the end is dropped.  -EFBIG over the maximum. */
int auxv_parse(const void *bytes, size_t size, struct auxv *ret, struct err *err) MUST_CHECK;

/* Empty for a kernel thread.  -ESRCH when the process has ended, -EACCES without the right. */
int auxv_read(pid_t pid, struct auxv *ret, struct err *err) MUST_CHECK;

/* The value of a type such as AT_BASE; 0 when it is not there. */
uint64_t auxv_value(const struct auxv *auxv, uint64_t type);
