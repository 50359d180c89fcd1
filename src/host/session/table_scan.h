/*
 * API tables of GPU runtimes that no register library tells of: found in the runtime's own data by
 * their shape.
 */
#pragma once

#include "host/attach/modules.h"

struct found_table {
	char name[TABLE_NAME_MAX];
	unsigned part_count;
	uint64_t parts[TABLE_PARTS_MAX];
};

#define FOUND_TABLES_MAX 4

/* Looks through one module; returns how many tables were found.  None for a module that is no
 * runtime we know, and none where the shape is there more than once. */
size_t table_scan(const struct target *target, const struct module *module,
		  struct found_table ret[FOUND_TABLES_MAX]);
