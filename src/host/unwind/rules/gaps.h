/*
 * Code that no entry is for.
 */
#pragma once

#include "host/unwind/rules/frames.h"

/* Adds an entry for each piece of executable segments that has none; instructions begin at
 * multiples of `step`.  -ENOMEM. */
int gaps_add(struct frames *frames, const struct object *object, unsigned step) MUST_CHECK;
