/*
 * Where functions begin, by their names.
 */
#pragma once

#include "host/unwind/arch/code.h"

/* -ENOMEM. */
int named_find(const struct object *object, struct code_begins *ret) MUST_CHECK;
bool named_has(const struct code_begins *begins, uint64_t address);
