/*
 * Code without an entry.
 */
#pragma once

#include "host/unwind/rules/frames.h"

/* Adds an entry for each piece of executable segments without one; instructions begin at multiples
 * of `step`.  -ENOMEM. */
int gaps_add(struct frames *frames, const struct object *object, unsigned step) MUST_CHECK;
