/*
 * API tables in memory. Tables are variables of their runtime's library, which the application may
 * unmap: call these while the loader or the library is held, or inside a call of the library.
 */
#pragma once

#include "target/amd/tables/call.h"
#include "target/runtime/page.h"

/* A segment of a loaded module, as found last: callers pass it on from address to address, as long
 * as modules stay. All zero at first. */
struct module_range {
	uint64_t start, end;
	uint32_t flags; /* PF_W, PF_X */
};
/* True if the memory lies in one segment of a module with one of these flags. */
bool module_has(struct module_range *range, uint64_t address, uint64_t size, uint32_t flags);

/* Reads an API table: its entries and their number; 0: not a table. */
unsigned table_read(const struct agent_table *known, const struct api_table *table, uint64_t **ret);
/* The same of a table that HSA's root points to. */
unsigned table_read_part(const struct agent_table *hsa, unsigned part, uint64_t **ret);

/* What an entry leads to without limpet: the runtime's function, or another tool's that was first;
 * 0: nothing. */
uint64_t entry_original(const uint64_t *entry);

/* The function of that name in a known table, without limpet's stub; 0: there is none. */
uint64_t table_find_function(const struct agent_table *known, enum api_table_number number,
			     const char *name);

/* The number of known tables, which do not move. */
static inline uint32_t tables_known(const struct agent_table **ret)
{
	*ret = agent_page.tables;
	/* Acquire: pairs with the release in registry.c; the entries are complete. */
	return __atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE);
}
