/*
 * API tables of GPU runtimes that no register library knows: found in the runtime's own data by
 * their shape.
 */
#pragma once

#include "host/attach/facts/modules.h"

struct found_table {
	char name[TABLE_NAME_MAX];
	unsigned part_count;
	uint64_t parts[TABLE_PARTS_MAX];
};

#define FOUND_TABLES_MAX 4

/* The limit for all modules together: a target may name many like a runtime. */
#define TABLE_SCAN_MAX_BYTES ((uint64_t)1 << 30)

/* Searches one module; returns how many tables were found.  None for a module that is no known
 * runtime, none where the shape is found more than once, and none where the module exceeds the rest
 * of the budget. */
size_t table_scan(const struct target *target, const struct module *module, uint64_t *budget_bytes,
		  struct found_table ret[FOUND_TABLES_MAX]);
