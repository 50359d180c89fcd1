/*
 * Walks the entries of a unit once and keeps the ranges of its functions in order.  Entries are
 * foreign: the walk is bounded in depth, time and ranges.
 */
#include "host/symbols/unit_functions.h"

#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/core/sorted.h"

#include <dwarf.h>
#include <stdlib.h>

#define DEPTH_MAX   64u
#define SEARCH_STEP 1024u /* entries between checks of the clock */
/* How many functions back one that spans the address is searched for. */
#define OVERLAP_MAX 32u

struct walk {
	struct unit_functions *functions;
	size_t max, looked;
	uint64_t end_ns;
};

/* Entries without an address, or with one that does not cover their contents. */
static bool can_hold_functions(int tag)
{
	static const int tags[] = { DW_TAG_namespace,  DW_TAG_module,
				    DW_TAG_class_type, DW_TAG_structure_type,
				    DW_TAG_union_type, DW_TAG_interface_type,
				    DW_TAG_subprogram, DW_TAG_lexical_block };

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		if (tag == tags[i])
			return true;
	return false;
}

static bool add_function(struct walk *walk, Dwarf_Die *die)
{
	struct unit_functions *functions = walk->functions;
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		if (functions->count >= walk->max ||
		    make_room(&functions->items, functions->count, &functions->room,
			      sizeof(*functions->items)))
			return false;
		if (begin < end)
			functions->items[functions->count++] =
				(struct unit_function){ begin, end, dwarf_dieoffset(die) };
	}
	return true;
}

static bool walk_entries(struct walk *walk, Dwarf_Die *unit)
{
	Dwarf_Die path[DEPTH_MAX];
	size_t depth = 0;

	if (dwarf_child(unit, &path[0]))
		return true;
	while (++walk->looked % SEARCH_STEP || now_ns() <= walk->end_ns) {
		int tag = dwarf_tag(&path[depth]);

		if (tag == DW_TAG_subprogram && !add_function(walk, &path[depth]))
			return false;
		if (can_hold_functions(tag) && depth + 1 < DEPTH_MAX &&
		    !dwarf_child(&path[depth], &path[depth + 1])) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&path[depth], &path[depth]))
			if (!depth--)
				return true;
	}
	return false;
}

static int by_begin(const void *left, const void *right)
{
	const struct unit_function *a = left, *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

bool unit_functions_read(struct unit_functions *ret, Dwarf_Die *unit, size_t max, uint64_t end_ns)
{
	struct walk walk = { .functions = ret, .max = max, .end_ns = end_ns };
	bool is_whole = walk_entries(&walk, unit);

	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_begin);
	return is_whole;
}

void unit_functions_done(struct unit_functions *functions)
{
	free(functions->items);
	*functions = (struct unit_functions){ 0 };
}

static uint64_t begin_at(const void *items, size_t index)
{
	return ((const struct unit_function *)items)[index].begin;
}

bool unit_functions_find(const struct unit_functions *functions, Dwarf_Die *unit, uint64_t address,
			 Dwarf_Die *ret)
{
	size_t count = count_up_to(functions->items, functions->count, address, begin_at);

	for (size_t i = 0; i < MIN(count, OVERLAP_MAX); i++) {
		const struct unit_function *function = &functions->items[count - 1 - i];

		if (address < function->end)
			return dwarf_offdie(dwarf_cu_getdwarf(unit->cu), function->die, ret);
	}
	return false;
}
