/*
 * The names that an ELF file has for its code, by their source.  Each adds to the table; 0,
 * -ENOMEM, -EOVERFLOW; skips invalid entries.  The file owns the names.
 */
#pragma once

#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/symbol_table.h"

#include <gelf.h>

/* The name may be NULL.  Not 0: it ends with that. */
typedef int elf_symbol_visitor(Elf *elf, const GElf_Sym *symbol, const char *name, void *context);

/* All symbols of .symtab and .dynsym. */
int elf_symbols_each(Elf *elf, elf_symbol_visitor *visit, void *context);
/* Those of them that name code. */
int elf_symbols_add(Elf *elf, struct symbol_table *table) MUST_CHECK;

/* Entries of the procedure linkage table.  The name is that of the function they lead to, without
 * "@plt". */
int elf_plt_add(Elf *elf, struct symbol_table *table) MUST_CHECK;

/* Where functions begin and end, from .eh_frame: without names, for code that was stripped of them.
 */
int elf_starts_add(Elf *elf, struct symbol_table *table) MUST_CHECK;

/* Where functions begin in code that has neither names nor entries in .eh_frame: at targets of
 * direct calls.  Functions called by pointers only are not found: they count as the end of the one
 * before them.  Reads all code of the file; -EFBIG where it has too much. */
int elf_calls_add(const struct elf_source *source, struct symbol_table *table) MUST_CHECK;
