/*
 * Rules for swapcontext() of glibc where .eh_frame has none (aarch64): it stores its return address
 * in the context that it saves, and writes another address to that register.
 */
#pragma once

#include "host/unwind/arch/code.h"

/* Whether the file may have such a function: its name is in the file. */
bool swap_is_named(const struct object *object);
/* Adds rows where the code of an entry, which begins at `pc`, is such a function.  -ENOMEM. */
int swap_rules_add(struct rows *rows, const struct object_part *code, uint32_t pc) MUST_CHECK;
