/*
 * Words in memory that is not to be written, for the moment of some stores.
 */
#pragma once

#include "shared/base/macros.h"

struct protection {
	uint64_t start, end; /* what was changed */
	int kept;            /* how it was; 0: it was writable, nothing was changed */
};

/* Makes the surroundings of this word writable: 0, -EFAULT when nothing is mapped there, -EACCES.
 */
int protection_open(uint64_t *at, struct protection *ret) MUST_CHECK;

/* Makes it as it was. */
void protection_close(const struct protection *protection);
