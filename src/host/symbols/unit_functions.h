/*
 * The functions of one unit of debug information by address, at any level of declaration: in
 * namespaces, modules and classes, and inside other functions.
 */
#pragma once

#include "shared/base/macros.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

struct unit_function {
	uint64_t begin, end;
	Dwarf_Off die;
};

struct unit_functions {
	struct unit_function *items;
	size_t count, room;
};

/* Reads at most `max` ranges, and stops at `end_ns`.  False when functions were left out. */
bool unit_functions_read(struct unit_functions *ret, Dwarf_Die *unit, size_t max, uint64_t end_ns);
void unit_functions_done(struct unit_functions *functions);

/* The entry of the function that holds the address; the one that begins last where several do. */
bool unit_functions_find(const struct unit_functions *functions, Dwarf_Die *unit, uint64_t address,
			 Dwarf_Die *ret);
