/*
 * Names that are told in lines of text: the kernel's own.
 */
#pragma once

#include "host/core/err.h"
#include "host/symbols/symbol_table.h"

#include <sys/types.h>

/* A file that only grows, read as far as it went. */
struct text_symbols {
	struct symbol_table table;
	char **texts; /* what the names lie in */
	size_t text_count, text_room;
	uint64_t read; /* bytes so far */
	uint64_t lines;
};

typedef bool text_symbol_parser(char *line, struct symbol *ret);

/* "address type name [module]". */
bool kallsyms_line(char *line, struct symbol *ret);

/* Takes whole lines from these bytes, which become its own; the number of bytes that were whole
 * lines. */
size_t text_symbols_take(struct text_symbols *symbols, char *text, size_t size,
			 text_symbol_parser *parse);

/* Reads what has come since the last time.  -ENOENT when there is no such file. */
int text_symbols_read(struct text_symbols *symbols, const char *path,
		      text_symbol_parser *parse) MUST_CHECK;

void text_symbols_done(struct text_symbols *symbols);
