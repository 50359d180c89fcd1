/*
 * Fuzzes the compiler of unwind tables: whatever the file says, the table is sound, because the
 * kernel's programs and the cache on disk rely on it.
 */
#include "fuzz.h"

#include <errno.h>

#include "host/unwind/tables/table.h"

static void check_rows(const struct unwind_table *table)
{
	must(table->row_count >= 1 && table->rows[0].pc == 0);
	must(table->rows[table->row_count - 1].kind == UNWIND_NONE);
	for (uint32_t i = 0; i < table->row_count; i++) {
		unsigned kind = table->rows[i].kind & UNWIND_KIND_MASK;

		must(!i || table->rows[i].pc > table->rows[i - 1].pc);
		must(kind < UNWIND_KINDS);
		must(kind != UNWIND_SPECIAL || table->rows[i].cfa < table->special_count);
	}
}

static void check_index(const struct unwind_table *table)
{
	for (uint32_t page = 0; page < table->page_count; page++) {
		uint32_t row = table->pages[page], begin = page << UNWIND_PAGE_BITS;

		must(row < table->row_count && table->rows[row].pc <= begin);
		must(row + 1 == table->row_count || table->rows[row + 1].pc > begin);
	}
}

static void check_lookups(const struct unwind_table *table)
{
	for (uint32_t i = 0; i < table->row_count; i++) {
		uint64_t address = table->first + table->rows[i].pc;

		must(unwind_table_find(table, address) == &table->rows[i]);
		if (i)
			must(unwind_table_find(table, address - 1) == &table->rows[i - 1]);
	}
	must(unwind_table_find(table, table->first - 1)->kind == UNWIND_NONE);
	must(unwind_table_find(table, UINT64_MAX)->kind == UNWIND_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct unwind_table *table = NULL;
	struct err err = { 0 };
	int r = unwind_table_compile(&table, bytes, size, &err);

	must(r == 0 || r == -ENOEXEC);
	if (r)
		return 0;
	must(table->page_count < (1u << 24));
	check_rows(table);
	check_index(table);
	check_lookups(table);
	unwind_table_free(table);
	return 0;
}
