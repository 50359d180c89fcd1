/*
 * The auxiliary vector of a process: what the kernel told it at exec.  Bytes, so that two can be compared.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

#define AUXV_MAX_BYTES 1024

struct auxv {
	size_t size; /* bytes read, a multiple of 16 */
	unsigned char bytes[AUXV_MAX_BYTES];
};

int auxv_read(pid_t pid, struct auxv *ret, struct err *err) MUST_CHECK;

/* The value of a type such as AT_BASE; 0 when it is not there. */
uint64_t auxv_value(const struct auxv *auxv, uint64_t type);
