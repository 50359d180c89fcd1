/*
 * Makes read-only memory writable for the duration of some stores.
 */
#pragma once

#include "shared/base/macros.h"

struct protection {
	uint64_t start, end; /* the changed range */
	int kept;            /* old protection; 0: it was writable, nothing was changed */
};

/* Makes the memory around this word writable: 0, -EFAULT if nothing is mapped there, -EACCES. */
int protection_open(uint64_t *at, struct protection *ret) MUST_CHECK;

/* Restores the protection. */
void protection_close(const struct protection *protection);
