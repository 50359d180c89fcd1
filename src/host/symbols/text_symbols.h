/*
 * Names from lines of text: the kernel's own.
 */
#pragma once

#include "host/core/err.h"
#include "host/symbols/symbol_table.h"

#include <sys/types.h>

/* A file that only grows, and the part read so far. */
struct text_symbols {
	struct symbol_table table;
	char **texts; /* the memory of the names */
	size_t text_count, text_room;
	uint64_t read; /* bytes so far */
	uint64_t lines;
};

typedef bool text_symbol_parser(char *line, struct symbol *ret);

/* "address type name [module]". */
bool kallsyms_line(char *line, struct symbol *ret);

/* Parses whole lines from these bytes, which it then owns; returns the number of bytes in whole
 * lines. */
size_t text_symbols_take(struct text_symbols *symbols, char *text, size_t size,
			 text_symbol_parser *parse);

/* Reads what was added since the last time.  -ENOENT when there is no such file. */
int text_symbols_read(struct text_symbols *symbols, const char *path,
		      text_symbol_parser *parse) MUST_CHECK;

void text_symbols_done(struct text_symbols *symbols);
