/*
 * Words that follow a number: "1 thread was", "2 threads were".
 */
#pragma once

#include "shared/base/macros.h"

static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static inline const char *is_are(uint64_t count)
{
	return count == 1 ? "is" : "are";
}

static inline const char *was_were(uint64_t count)
{
	return count == 1 ? "was" : "were";
}

static inline const char *has_have(uint64_t count)
{
	return count == 1 ? "has" : "have";
}
