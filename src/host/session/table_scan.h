/*
 * API tables of GPU runtimes that no register library tells of: found in the runtime's own data by
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

/* What is read in all, of as many modules as a target may name like a runtime. */
#define TABLE_SCAN_MAX_BYTES ((uint64_t)1 << 30)

/* Looks through one module; returns how many tables were found.  None for a module that is no
 * runtime we know, none where the shape is there more than once, and none where that would be more
 * than the rest of the budget. */
size_t table_scan(const struct target *target, const struct module *module, uint64_t *budget_bytes,
		  struct found_table ret[FOUND_TABLES_MAX]);
