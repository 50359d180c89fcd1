/*
 * Where functions begin.
 */
#pragma once

#include "host/unwind/arch/code.h"

#define WORD 4u

/* -ENOMEM. */
int begins_find(const struct object *object, struct code_begins *ret) MUST_CHECK;
bool begins_has(const struct code_begins *begins, uint64_t address);
bool begins_has_name(const struct code_begins *begins, uint64_t address);

size_t calls_each(const struct object_part *piece, size_t margin, call_visitor *visit,
		  void *context);
