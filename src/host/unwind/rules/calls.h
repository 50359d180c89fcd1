/*
 * Callers whose frame is found by a register, as that of the loader's _dl_runtime_resolve is by
 * rbx: during a call it is on the stack, if the callee has saved it.
 */
#pragma once

#include "host/unwind/arch/code.h"

/* Adds rows at such calls to those of one entry, which are the last from `first` on; `pc` is that
 * of the entry's code.  -ENOMEM, -EOVERFLOW. */
int calls_add_rows(struct rows *rows, size_t first, const struct object *object,
		   const struct object_part *code, uint32_t pc) MUST_CHECK;
