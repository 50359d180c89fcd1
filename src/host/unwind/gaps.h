/*
 * Code that no entry is for.
 */
#pragma once

#include "host/unwind/frames.h"

/* Adds an entry for each piece of executable segments that has none.  -ENOMEM. */
int gaps_add(struct frames *frames, const struct object *object) MUST_CHECK;
