/*
 * The names that an ELF file has for its code, by where they are told.  Each adds to the table; 0
 * -ENOMEM, -EOVERFLOW; what makes no sense is passed over.  Names belong to the file.
 */
#pragma once

#include "host/symbols/symbol_table.h"

#include <libelf.h>

/* .symtab and .dynsym. */
int elf_symbols_add(Elf *elf, struct symbol_table *table) MUST_CHECK;

/* Entries of the procedure linkage table.  The name is that of the function they lead to, without
 * "@plt". */
int elf_plt_add(Elf *elf, struct symbol_table *table) MUST_CHECK;

/* Where functions begin, from .eh_frame_hdr: without names, for code that was stripped of them. */
int elf_starts_add(Elf *elf, struct symbol_table *table) MUST_CHECK;
