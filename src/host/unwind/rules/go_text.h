/*
 * Where the code of a Go program begins, which the offsets of its functions count from, if the
 * table's own header has no address.  Before Go 1.26 that is relocated code: the linker's
 * relocation has the address.  From Go 1.26 on the program's module data (.go.module) has it.  The
 * bytes are foreign.
 */
#pragma once

#include "host/unwind/rules/gopclntab.h"

struct go_places {
	uint64_t table;             /* the table's address */
	struct go_part description; /* empty: there is none */
	uint64_t description_at;    /* its address */
	struct go_part relocations; /* Elf64_Rela; empty: there are none */
};

/* 0: not known. */
uint64_t go_text_start(const struct go_places *places);
