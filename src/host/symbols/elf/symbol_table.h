/*
 * Names by address.  Names are not copied: they live as long as their source.
 */
#pragma once

#include "host/core/cleanup.h"
#include "shared/base/macros.h"

#include <stdbool.h>

struct symbol {
	uint64_t address,
		end;    /* end == address until symbol_table_finish(): the size is not known */
	uint64_t limit; /* where it ends at the latest */
	uint64_t rank;  /* of two at one address the higher one wins */
	const char *name;
	bool has_size; /* its end is given, not guessed from the next one */
};

struct symbol_table {
	struct symbol *items;
	size_t count, room;
	bool is_finished;
};

/* Of one file. */
#define SYMBOL_TABLE_MAX (8u << 20)
/* Of all files that are read at a time. */
#define SYMBOLS_ALL_MAX (24u << 20)

/* -ENOMEM; -EOVERFLOW when there are too many. */
int symbol_table_add(struct symbol_table *table, const struct symbol *symbol) MUST_CHECK;

/* Sorts, and ends symbols of unknown size where the next one begins.  More may be added after it.
 */
void symbol_table_finish(struct symbol_table *table);

/* The symbol that holds an address; the one that begins last, when there are several.  NULL. */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);

/* The last symbol that begins at or before an address, without regard to its end.  NULL. */
const struct symbol *symbol_table_last(const struct symbol_table *table, uint64_t address);

void symbol_table_done(struct symbol_table *table);

DEFINE_STRUCT_CLEANUP(symbol_table, symbol_table_done)
