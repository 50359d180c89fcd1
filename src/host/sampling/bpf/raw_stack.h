/*
 * Stacks that kernel programs sent as copies: KERNEL_RAW of shared/wire/kernel.h.
 */
#pragma once

#include "shared/wire/kernel.h"

struct space;

/* ret: the same record with frames, and room for the maximum.  space may be NULL. */
void raw_stack_walk(const struct sample *record, const struct space *space, struct sample *ret);
