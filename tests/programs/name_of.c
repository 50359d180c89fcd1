/*
 * Tells the names of addresses of an ELF file, as limpet finds them: one line each, the innermost
 * function first.
 *
 *   usage: name_of FILE ADDRESS...        (hexadecimal)
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/symbols/symbolizer.h"

int main(int argc, char **argv)
{
	struct symbolizer *symbolizer = symbolizer_new();
	struct symbol_origin origin = { .path = argc > 1 ? argv[1] : "" };
	int module = symbolizer ? symbolizer_module(symbolizer, CODE_FILE, &origin) : -1;

	symbol_file_read_lines_by(&line_reader_libdw);
	for (int i = 2; module >= 0 && i < argc; i++) {
		struct code_names names;

		if (symbolizer_find(symbolizer, (unsigned)module, strtoull(argv[i], NULL, 16),
				    /* wants_lines */ true, &names))
			return 1;
		for (size_t k = 0; k < names.count; k++)
			printf("%s%s\t%s:%u", k ? "\t" : "", names.items[k].function,
			       names.items[k].file, names.items[k].line);
		printf("\n");
	}
	symbolizer_free(symbolizer);
	return module < 0;
}
