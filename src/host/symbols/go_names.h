/*
 * Names, files and lines of Go's code, from the table that every Go program has, also when it is
 * stripped of symbols and debug information.
 */
#pragma once

#include "host/symbols/elf/elf_source.h"
#include "host/symbols/lines.h"
#include "host/unwind/rules/gopclntab.h"

struct go_names {
	Elf *elf;
	struct gopclntab table;
	uint64_t trees; /* address of the inline trees in memory; 0: not known, or in the trees */
};

/* False: the file has no such table.  The file must stay open. */
bool go_names_open(struct go_names *ret, Elf *elf);
/* False: no function of Go. */
bool go_names_find(const struct go_names *names, uint64_t address, const char **ret_name,
		   uint64_t *ret_start);
/* As find() of a reader of lines. */
size_t go_names_lines(const struct go_names *names, uint64_t address, struct source_location *ret,
		      size_t room);
