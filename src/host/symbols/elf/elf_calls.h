/*
 * Where functions begin in code that has neither names nor entries in .eh_frame: at targets of
 * direct calls.  Functions called by pointers only are not found: they count as the end of the one
 * before them.
 */
#pragma once

#include "host/symbols/elf/elf_source.h"
#include "host/symbols/symbol_table.h"

/* Reads all code of the file.  0; -ENOMEM, -EOVERFLOW; -EFBIG where it has too much code. */
int elf_calls_add(const struct elf_source *source, struct symbol_table *table) MUST_CHECK;
