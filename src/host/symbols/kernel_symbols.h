/*
 * Names of the kernel's functions: /proc/kallsyms.
 */
#pragma once

#include "host/symbols/elf/symbol_table.h"

struct kernel_symbols {
	struct symbol_table table;
	char **texts; /* the memory of the names */
	size_t text_count, text_room;
	uint64_t lines;
};

/* "address type name [module]"; ends the name in the line. */
bool kallsyms_line(char *line, struct symbol *ret);

/* Parses whole lines from these bytes, which it then owns; returns the number of bytes in whole
 * lines. */
size_t kernel_symbols_parse(struct kernel_symbols *symbols, char *text, size_t size);
/* A file that cannot be read has no names. */
void kernel_symbols_read(struct kernel_symbols *symbols);
void kernel_symbols_done(struct kernel_symbols *symbols);
