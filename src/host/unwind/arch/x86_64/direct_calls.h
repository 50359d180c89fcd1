/*
 * Targets of calls in a piece of code: code_reader.each_call of x86-64.
 */
#pragma once

#include "host/unwind/arch/code.h"

size_t direct_calls_each(const struct object_part *piece, size_t margin, call_visitor *visit,
			 void *context);
