/*
 * Asks libdw.  Units are found by a sorted list of their ranges, made once: not all compilers write
 * .debug_aranges.
 */
#include "host/symbols/lines.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/sorted.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#define SCOPES_MAX 256

struct unit_range {
	uint64_t begin, end;
	Dwarf_Off die;
};

struct lines {
	Dwarf *dwarf;
	struct unit_range *ranges;
	size_t count, room;
};

static int by_begin(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static bool add_ranges(struct lines *self, Dwarf_Die *unit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0) {
		if (make_room(&self->ranges, self->count, &self->room, sizeof(*self->ranges)))
			return false;
		if (begin < end)
			self->ranges[self->count++] =
				(struct unit_range){ begin, end, dwarf_dieoffset(unit) };
	}
	return true;
}

static bool read_units(struct lines *self)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (!dwarf_get_units(self->dwarf, unit, &unit, NULL, &type, &die, &split))
		if (type == DW_UT_compile && !add_ranges(self, &die))
			return false;
	if (self->count)
		qsort(self->ranges, self->count, sizeof(*self->ranges), by_begin);
	return self->count > 0;
}

static void close_lines(struct lines *lines)
{
	if (!lines)
		return;
	if (lines->dwarf)
		dwarf_end(lines->dwarf);
	free(lines->ranges);
	free(lines);
}

static struct lines *open_lines(Elf *elf)
{
	struct lines *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (self->dwarf && read_units(self))
		return self;
	close_lines(self);
	return NULL;
}

static uint64_t begin_at(const void *ranges, size_t place)
{
	return ((const struct unit_range *)ranges)[place].begin;
}

static bool find_unit(const struct lines *self, uint64_t address, Dwarf_Die *ret)
{
	size_t count = count_up_to(self->ranges, self->count, address, begin_at);
	const struct unit_range *last = count ? &self->ranges[count - 1] : NULL;

	return last && address < last->end && dwarf_offdie(self->dwarf, last->die, ret);
}

/* The linked name says more than the source's: it has the namespaces. */
static const char *function_name(Dwarf_Die *die)
{
	static const unsigned names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name =
			dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));

		if (name)
			return name;
	}
	return NULL;
}

static unsigned number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attribute) && !dwarf_formudata(&attribute, &value)
		       ? (unsigned)value
		       : 0;
}

/* Where an inlined function was called from. */
static void find_caller(Dwarf_Die *unit, Dwarf_Die *inlined, struct source_place *ret)
{
	unsigned file = number_of(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	ret->line = number_of(inlined, DW_AT_call_line);
	ret->file = file && !dwarf_getsrcfiles(unit, &files, &count) && file < count
			    ? dwarf_filesrc(files, file, NULL, NULL)
			    : NULL;
}

static struct source_place place_in(Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	struct source_place place = { 0 };
	int number = 0;

	if (!line)
		return place;
	place.file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &number) && number > 0)
		place.line = (unsigned)number;
	return place;
}

/* From the innermost scope outwards as the code has them.  dwarf_getscopes() itself goes on with
 * where an inlined function was written. */
static int find_scopes(Dwarf_Die *unit, uint64_t address, Dwarf_Die **ret)
{
	CLEANUP(free) Dwarf_Die *scopes = NULL;
	int count = dwarf_getscopes(unit, address, &scopes);

	return count > 0 ? dwarf_getscopes_die(&scopes[0], ret) : 0;
}

static size_t find_lines(struct lines *lines, uint64_t address, struct source_place *ret,
			 size_t room)
{
	CLEANUP(free) Dwarf_Die *scopes = NULL;
	struct source_place place;
	size_t count = 0;
	Dwarf_Die unit;
	int scope_count;

	if (!find_unit(lines, address, &unit))
		return 0;
	place = place_in(&unit, address);
	scope_count = find_scopes(&unit, address, &scopes);
	for (int i = 0; i < MIN(scope_count, SCOPES_MAX) && count < room; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		place.function = function_name(&scopes[i]);
		ret[count++] = place;
		if (tag == DW_TAG_subprogram)
			return count;
		find_caller(&unit, &scopes[i], &place);
	}
	if (!count && (place.file || place.line))
		ret[count++] = place;
	return count;
}

const struct line_reader line_reader_libdw = { open_lines, close_lines, find_lines };
