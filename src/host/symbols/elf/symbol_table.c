/*
 * A sorted list.  Symbols come from foreign files: they may overlap and be wrong.
 */
#include "host/symbols/elf/symbol_table.h"

#include "host/core/room.h"
#include "host/core/sorted.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How many symbols back one that spans the address is searched for. */
#define OVERLAP_MAX 32u

/* Limits all files together: limpet may have those of many programs open. */
static _Atomic size_t all_symbols;

int symbol_table_add(struct symbol_table *table, const struct symbol *symbol)
{
	int r = 0;

	if (table->count >= SYMBOL_TABLE_MAX ||
	    atomic_load_explicit(&all_symbols, memory_order_relaxed) >= SYMBOLS_ALL_MAX)
		r = -EOVERFLOW;
	if (!r)
		r = make_room(&table->items, table->count, &table->room, sizeof(*table->items));

	if (!r) {
		table->items[table->count++] = *symbol;
		atomic_fetch_add_explicit(&all_symbols, 1, memory_order_relaxed);
	}
	table->is_finished = false;
	return r;
}

static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->rank > b->rank ? -1 : a->rank < b->rank;
}

/* Of several at one address only the first is kept. */
static void drop_twins(struct symbol_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++)
		if (!kept || table->items[kept - 1].address != table->items[i].address)
			table->items[kept++] = table->items[i];
	atomic_fetch_sub_explicit(&all_symbols, table->count - kept, memory_order_relaxed);
	table->count = kept;
}

void symbol_table_finish(struct symbol_table *table)
{
	if (table->is_finished || !table->count)
		return;
	qsort(table->items, table->count, sizeof(*table->items), by_address);
	drop_twins(table);
	for (size_t i = 0; i < table->count; i++) {
		struct symbol *symbol = &table->items[i];

		if (symbol->end > symbol->address)
			continue;
		symbol->end = symbol->limit;
		if (i + 1 < table->count)
			symbol->end = MIN(symbol->end, symbol[1].address);
	}
	table->is_finished = true;
}

static uint64_t address_at(const void *items, size_t index)
{
	return ((const struct symbol *)items)[index].address;
}

const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
	size_t count = count_up_to(table->items, table->count, address, address_at);

	for (size_t i = 0; i < MIN(count, OVERLAP_MAX); i++)
		if (address < table->items[count - 1 - i].end)
			return &table->items[count - 1 - i];
	return NULL;
}

const struct symbol *symbol_table_last(const struct symbol_table *table, uint64_t address)
{
	size_t count = count_up_to(table->items, table->count, address, address_at);

	return count ? &table->items[count - 1] : NULL;
}

void symbol_table_done(struct symbol_table *table)
{
	atomic_fetch_sub_explicit(&all_symbols, table->count, memory_order_relaxed);
	free(table->items);
	*table = (struct symbol_table){ 0 };
}
