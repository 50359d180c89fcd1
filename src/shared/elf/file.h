/*
 * The symbol table of an ELF file that is in memory as a whole.
 */
#pragma once

#include "shared/base/macros.h"

/* The value of a defined symbol in the full symbol table (.symtab), as the file has it; -ENOENT. */
int elf_file_symbol(const void *bytes, size_t size, const char *name, uint64_t *ret) MUST_CHECK;
