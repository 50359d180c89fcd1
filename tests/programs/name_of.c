/*
 * Tells the names of addresses of an ELF file, as limpet finds them: one line each, the innermost
 * function first.
 *
 *   usage: name_of FILE [ADDRESS...]      (hexadecimal; none: those on its input, one a line)
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/symbols/symbolizer.h"

static int name(struct symbolizer *symbolizer, int module, const char *address)
{
	struct code_names names;

	if (symbolizer_find(symbolizer, (unsigned)module, strtoull(address, NULL, 16),
			    /* wants_lines */ true, &names))
		return 1;
	for (size_t i = 0; i < names.count; i++)
		printf("%s%s\t%s:%u", i ? "\t" : "", names.items[i].function, names.items[i].file,
		       names.items[i].line);
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct symbolizer *symbolizer = symbolizer_new();
	struct symbol_origin origin = { .path = argc > 1 ? argv[1] : "" };
	int module = symbolizer ? symbolizer_module(symbolizer, CODE_FILE, &origin) : -1;
	int r = module < 0;
	char line[64];

	symbol_file_read_lines_by(&line_reader_libdw);
	for (int i = 2; !r && i < argc; i++)
		r = name(symbolizer, module, argv[i]);
	while (!r && argc == 2 && fgets(line, sizeof(line), stdin))
		r = name(symbolizer, module, line);
	symbolizer_free(symbolizer);
	return r;
}
