/*
 * One injection at a time: two limpets must not attach to one target at once.
 */
#pragma once

#include "host/attach/target.h"

/* A descriptor that holds the lock until it is closed. */
int exclusion_take(const struct target *target, struct err *err) MUST_CHECK;
