/*
 * Reads .gopclntab.
 *
 * A header, then five tables, each by its offset: names; files of each unit; names of files; values
 * by address, as varints; and the functions: first where each begins, ascending, with the offset of
 * its record, then the records.
 */
#include "host/unwind/rules/gopclntab.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define HEADER_NUMBERS 8u /* where the header's numbers of eight bytes begin */
#define NOTHING        UINT32_MAX
#define INLINE_VALUES  2u /* the number of the table of values for inlining */
#define INLINE_TREE    3u /* the number of the data with the tree */

/* Offsets in a function's record. */
struct go_layout {
	uint32_t magic;
	unsigned numbers;    /* of the header */
	bool has_text_start; /* as its third number */
	unsigned entry_size; /* of an address or offset in the list of functions */
	unsigned name, frame, file, line, value_count, unit, flags, data_count, rest;
	unsigned node_size, node_name, node_caller; /* of an inline tree */
	unsigned trees_at;                          /* see gopclntab_trees_at() */
};

static const struct go_layout layouts[] = {
	{ 0xfffffffa, 7, false, 8, 8, 20, 24, 28, 32, 36, 41, 43, 44, 20, 12, 16, 0 },
	{ 0xfffffff0, 8, true, 4, 4, 16, 20, 24, 28, 32, 37, 39, 40, 20, 12, 16, 304 },
	{ 0xfffffff1, 8, true, 4, 4, 16, 20, 24, 28, 32, 41, 43, 44, 16, 4, 8, 320 },
};

static uint64_t number_at(const struct go_part *part, uint64_t at, unsigned size)
{
	uint64_t value = 0;

	if (at <= part->size && size <= part->size - at)
		memcpy(&value, part->bytes + at, size);
	return value;
}

static uint32_t u32_at(const struct go_part *part, uint64_t at)
{
	return (uint32_t)number_at(part, at, sizeof(uint32_t));
}

static struct go_part part_from(const struct go_part *part, uint64_t at)
{
	at = MIN(at, part->size);
	return (struct go_part){ part->bytes + at, part->size - at };
}

static const char *text_at(const struct go_part *part, uint64_t at)
{
	return at < part->size && memchr(part->bytes + at, '\0', MIN(part->size - at, GO_TEXT_MAX))
		       ? (const char *)part->bytes + at
		       : NULL;
}

static uint64_t header_number(const struct gopclntab *table, unsigned number)
{
	return number_at(&table->all, HEADER_NUMBERS + number * sizeof(uint64_t), sizeof(uint64_t));
}

int gopclntab_open(struct gopclntab *ret, const unsigned char *bytes, uint64_t size,
		   uint64_t text_start)
{
	struct gopclntab table = { .all = { bytes, size }, .text_start = text_start };
	unsigned first; /* of the five tables */

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].magic == u32_at(&table.all, 0))
			table.layout = &layouts[i];
	if (!table.layout || size < HEADER_NUMBERS + table.layout->numbers * sizeof(uint64_t) ||
	    bytes[7] != sizeof(uint64_t))
		return -EBADMSG;
	table.quantum = bytes[6];
	table.count = header_number(&table, 0);
	if (table.layout->has_text_start && header_number(&table, 2))
		table.text_start = header_number(&table, 2);
	if (table.layout->has_text_start && !table.text_start)
		return -EBADMSG;
	first = table.layout->has_text_start ? 3 : 2;
	table.names = part_from(&table.all, header_number(&table, first));
	table.units = part_from(&table.all, header_number(&table, first + 1));
	table.files = part_from(&table.all, header_number(&table, first + 2));
	table.values = part_from(&table.all, header_number(&table, first + 3));
	table.functions = part_from(&table.all, header_number(&table, first + 4));
	if (!table.quantum || table.quantum > 8 || table.count > GO_FUNCTIONS_MAX ||
	    table.count * 2 * table.layout->entry_size > table.functions.size)
		return -EBADMSG;
	*ret = table;
	return 0;
}

static uint64_t start_of(const struct gopclntab *table, uint64_t number)
{
	unsigned size = table->layout->entry_size;
	uint64_t start = number_at(&table->functions, number * 2 * size, size);

	return table->layout->has_text_start ? table->text_start + start : start;
}

/* The data of a function follow its tables of values. */
static uint64_t tree_of(const struct gopclntab *table, const struct go_part *record,
			uint32_t value_count, unsigned data_count)
{
	const struct go_layout *layout = table->layout;
	uint64_t at = layout->rest + (uint64_t)value_count * sizeof(uint32_t);

	if (data_count <= INLINE_TREE)
		return UINT64_MAX;
	if (!layout->has_text_start) /* aligned as in memory */
		return number_at(record, ALIGN_UP(at, 8) + INLINE_TREE * sizeof(uint64_t),
				 sizeof(uint64_t));
	at = u32_at(record, at + INLINE_TREE * sizeof(uint32_t));
	return at == NOTHING ? UINT64_MAX : at;
}

bool gopclntab_function(const struct gopclntab *table, uint64_t number, struct go_function *ret)
{
	const struct go_layout *layout = table->layout;
	unsigned size = layout->entry_size;
	uint64_t at = number_at(&table->functions, (number * 2 + 1) * size, size);
	const struct go_part record = part_from(&table->functions, at);
	uint32_t value_count = u32_at(&record, layout->value_count);

	if (number >= table->count || record.size < layout->rest)
		return false;
	*ret = (struct go_function){
		.start = start_of(table, number),
		.end = start_of(table, number + 1),
		.name = text_at(&table->names, u32_at(&record, layout->name)),
		.frame_values = u32_at(&record, layout->frame),
		.file_values = u32_at(&record, layout->file),
		.line_values = u32_at(&record, layout->line),
		.unit = u32_at(&record, layout->unit),
		.flags = record.bytes[layout->flags],
		.inline_tree =
			tree_of(table, &record, value_count, record.bytes[layout->data_count]),
	};
	if (value_count > INLINE_VALUES)
		ret->inline_values =
			u32_at(&record, layout->rest + INLINE_VALUES * sizeof(uint32_t));
	return ret->name && ret->start < ret->end;
}

bool gopclntab_find(const struct gopclntab *table, uint64_t address, struct go_function *ret)
{
	uint64_t low = 0, high = table->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (start_of(table, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && gopclntab_function(table, low - 1, ret) && address >= ret->start &&
	       address < ret->end;
}

struct go_values go_values_of(const struct gopclntab *table, const struct go_function *function,
			      uint32_t offset)
{
	const struct go_part part = part_from(&table->values, offset);

	return (struct go_values){
		.bytes = { part.bytes, part.bytes + (offset ? part.size : 0), 0, false },
		.start = function->start,
		.end = function->start,
		.limit = function->end,
		.value = -1,
		.quantum = table->quantum,
	};
}

/* Each step has at least one instruction, so a table has no more steps than its function. */
bool go_values_next(struct go_values *values)
{
	uint64_t change = dwarf_read_unsigned(&values->bytes), length;

	if (values->bytes.is_broken || values->end >= values->limit ||
	    (!change && values->has_begun) || values->count == GO_VALUES_MAX)
		return false;
	length = dwarf_read_unsigned(&values->bytes);
	if (values->bytes.is_broken || !length ||
	    length > (values->limit - values->end) / values->quantum)
		return false;
	values->has_begun = true;
	values->count++;
	values->value = (int64_t)((uint64_t)values->value + ((change >> 1) ^ -(change & 1)));
	values->start = values->end;
	values->end += length * values->quantum;
	return true;
}

/* The value at an address; -1: none. */
static int64_t go_value_at(const struct gopclntab *table, const struct go_function *function,
			   uint32_t offset, uint64_t address)
{
	struct go_values values = go_values_of(table, function, offset);

	while (go_values_next(&values))
		if (address >= values.start && address < values.end)
			return values.value;
	return -1;
}

struct go_line gopclntab_line(const struct gopclntab *table, const struct go_function *function,
			      uint64_t address)
{
	int64_t file = go_value_at(table, function, function->file_values, address);
	int64_t line = go_value_at(table, function, function->line_values, address);
	struct go_line ret = { 0 };
	uint32_t name = NOTHING;

	if (file >= 0 && file < UINT32_MAX)
		name = u32_at(&table->units,
			      ((uint64_t)function->unit + (uint64_t)file) * sizeof(uint32_t));
	if (name != NOTHING)
		ret.file = text_at(&table->files, name);
	if (line > 0 && line <= INT32_MAX)
		ret.line = (unsigned)line;
	return ret;
}

bool gopclntab_inlined(const struct gopclntab *table, const struct go_function *function,
		       const struct go_part *tree, uint64_t address, struct go_inlined *ret)
{
	const struct go_layout *layout = table->layout;
	int64_t number = go_value_at(table, function, function->inline_values, address);
	uint64_t at;

	if (number < 0 || number > INT32_MAX)
		return false;
	at = (uint64_t)number * layout->node_size;
	if (at > tree->size || tree->size - at < layout->node_size)
		return false;
	ret->name = text_at(&table->names, u32_at(tree, at + layout->node_name));
	ret->caller = function->start + u32_at(tree, at + layout->node_caller);
	return ret->name && ret->caller < function->end;
}

unsigned gopclntab_trees_at(const struct gopclntab *table)
{
	return table->layout->trees_at;
}

static bool find_relocated(const struct go_part *relocations, uint64_t place, uint64_t *ret)
{
	Elf64_Rela relocation;

	for (uint64_t at = 0; relocations->size - at >= sizeof(relocation);
	     at += sizeof(relocation)) {
		memcpy(&relocation, relocations->bytes + at, sizeof(relocation));
		if (relocation.r_offset != place)
			continue;
		*ret = (uint64_t)relocation.r_addend;
		return true;
	}
	return false;
}

/* Linkers need not write a word that a relocation sets. */
static uint64_t read_description(const struct go_places *places, uint64_t at)
{
	const struct go_part *description = &places->description;
	uint64_t address = 0;

	if (at > description->size || sizeof(address) > description->size - at)
		return 0;
	if (!find_relocated(&places->relocations, places->description_at + at, &address))
		memcpy(&address, description->bytes + at, sizeof(address));
	return address;
}

uint64_t go_text_start(const struct go_places *places)
{
	uint64_t start;

	if (find_relocated(&places->relocations, places->table + GO_TEXT_START_AT, &start))
		return start;
	return read_description(places, 0) == places->table
		       ? read_description(places, GO_DESCRIPTION_TEXT)
		       : 0;
}

static struct go_part section_of(go_section_finder *find, const void *file, const char *name,
				 uint64_t *ret_at)
{
	struct go_part part;

	return find(file, name, &part, ret_at) ? part : (struct go_part){ 0 };
}

bool gopclntab_open_in(struct gopclntab *ret, go_section_finder *find, const void *file,
		       uint64_t *ret_at)
{
	struct go_places places = { 0 };
	struct go_part part = section_of(find, file, ".gopclntab", ret_at);
	uint64_t at;

	if (!part.size)
		part = section_of(find, file, ".data.rel.ro.gopclntab", ret_at);
	if (!part.size)
		return false;
	places.table = *ret_at;
	places.description = section_of(find, file, GO_DESCRIPTION, &places.description_at);
	places.relocations = section_of(find, file, ".rela.dyn", &at);
	if (!places.relocations.size)
		places.relocations = section_of(find, file, ".rela", &at);
	return !gopclntab_open(ret, part.bytes, part.size, go_text_start(&places));
}
