/*
 * Fuzzes names of code.  The first byte says what the rest is: a perf map, the kernel's list, or an
 * ELF file.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "host/symbols/elf/debug_file.h"
#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"
#include "host/symbols/jit/perf_map.h"
#include "host/symbols/kernel_symbols.h"

static void look(struct symbol_table *table)
{
	symbol_table_finish(table);
	for (size_t i = 0; i < table->count; i++) {
		uint64_t address = table->items[i].address;
		const struct symbol *found = symbol_table_find(table, address);

		must(!found || (found->address <= address && address < found->end));
		must(!found || strlen(found->name) < SIZE_MAX);
		must(!i || table->items[i - 1].address < address);
	}
	(void)symbol_table_find(table, UINT64_MAX);
}

static void read_text(const uint8_t *bytes, size_t size)
{
	struct kernel_symbols symbols = { 0 };
	char *text = malloc(size + 1);

	must(text != NULL);
	memcpy(text, bytes, size);
	must(kernel_symbols_parse(&symbols, text, size) <= size);
	look(&symbols.table);
	kernel_symbols_done(&symbols);
}

static void read_map(const uint8_t *bytes, size_t size)
{
	struct jit_names names = { 0 };

	must(perf_map_lines(&names, (const char *)bytes, size, 0) <= size);
	must(!jit_names_sort(&names));
	for (size_t i = 0; i < names.count; i++)
		must(jit_names_version(&names, names.items[i].start, 0));
	jit_names_done(&names);
}

static void read_elf(const uint8_t *bytes, size_t size)
{
	struct symbol_table table = { 0 }, starts = { 0 };
	struct elf_source source, inner;
	char *copy = malloc(size + 1);

	must(copy != NULL);
	memcpy(copy, bytes, size);
	if (elf_source_in(&source, copy, size))
		return;
	must(!elf_symbols_add(source.elf, &table) && !elf_plt_add(source.elf, &table));
	must(!elf_starts_add(source.elf, &starts));
	look(&table);
	look(&starts);
	if (!debugdata_open(&inner, source.elf)) {
		must(!elf_symbols_add(inner.elf, &table));
		look(&table);
		elf_source_close(&inner);
	}
	symbol_table_done(&table);
	symbol_table_done(&starts);
	elf_source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (!size)
		return 0;
	if (bytes[0] == 'p')
		read_map(bytes + 1, size - 1);
	else if (bytes[0] == 'k')
		read_text(bytes + 1, size - 1);
	else
		read_elf(bytes + 1, size - 1);
	return 0;
}
