/*
 * Finds addresses in Go's table of functions.
 */
#include "host/symbols/go_names.h"

#include <gelf.h>
#include <string.h>

#define INLINED_MAX 64u

/* Sections that may have the program's module data, which lead to everything else. */
static const char *const descriptions[] = { GO_DESCRIPTION, ".noptrdata", ".data" };

static uint64_t word_at(const struct elf_part *part, uint64_t at)
{
	uint64_t word = 0;

	if (at <= part->size && sizeof(word) <= part->size - at)
		memcpy(&word, part->bytes + at, sizeof(word));
	return word;
}

/* The module data begins with the address of the table, and has that of the code. */
static uint64_t find_trees(const struct go_names *names, uint64_t table)
{
	unsigned trees_at = gopclntab_trees_at(&names->table);
	struct elf_part part;

	for (size_t i = 0; trees_at && i < ARRAY_SIZE(descriptions); i++) {
		if (!elf_section_part(names->elf, descriptions[i], &part))
			continue;
		for (uint64_t at = 0; at < part.size; at += sizeof(table))
			if (word_at(&part, at) == table &&
			    word_at(&part, at + GO_DESCRIPTION_TEXT) == names->table.text_start &&
			    word_at(&part, at + trees_at))
				return word_at(&part, at + trees_at);
	}
	return 0;
}

static bool find_section(const void *elf, const char *name, struct go_part *ret, uint64_t *ret_at)
{
	struct elf_part part;

	if (!elf_section_part((Elf *)(uintptr_t)elf, name, &part))
		return false;
	*ret = (struct go_part){ part.bytes, part.size };
	*ret_at = part.address;
	return true;
}

bool go_names_open(struct go_names *ret, Elf *elf)
{
	uint64_t at;

	*ret = (struct go_names){ .elf = elf };
	if (!gopclntab_open_in(&ret->table, find_section, elf, &at))
		return false;
	ret->trees = find_trees(ret, at);
	return true;
}

bool go_names_find(const struct go_names *names, uint64_t address, const char **ret_name,
		   uint64_t *ret_start)
{
	struct go_function function;

	if (!gopclntab_find(&names->table, address, &function))
		return false;
	*ret_name = function.name;
	*ret_start = function.start;
	return true;
}

/* From an address on, to the end of its section. */
static struct go_part bytes_at(Elf *elf, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while ((section = elf_nextscn(elf, section))) {
		const Elf_Data *data;
		uint64_t skip;

		if (!gelf_getshdr(section, &head) || head.sh_type != SHT_PROGBITS ||
		    !(head.sh_flags & SHF_ALLOC) || address < head.sh_addr ||
		    address - head.sh_addr >= head.sh_size || head.sh_size > ELF_PART_MAX)
			continue;
		skip = address - head.sh_addr;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf && skip < data->d_size)
			return (struct go_part){ (const unsigned char *)data->d_buf + skip,
						 data->d_size - skip };
	}
	return (struct go_part){ 0 };
}

static struct go_part tree_of(const struct go_names *names, const struct go_function *function)
{
	uint64_t address = function->inline_tree;

	if (address == UINT64_MAX || (gopclntab_trees_at(&names->table) && !names->trees))
		return (struct go_part){ 0 };
	return bytes_at(names->elf, names->trees + address);
}

size_t go_names_lines(const struct go_names *names, uint64_t address, struct source_location *ret,
		      size_t room)
{
	struct go_function function;
	struct go_inlined inlined;
	struct go_part tree;
	size_t count = 0;

	if (!gopclntab_find(&names->table, address, &function))
		return 0;
	tree = tree_of(names, &function);
	while (count < MIN(room, (size_t)INLINED_MAX)) {
		struct go_line line = gopclntab_line(&names->table, &function, address);
		bool is_inlined =
			gopclntab_inlined(&names->table, &function, &tree, address, &inlined);

		ret[count++] = (struct source_location){ is_inlined ? inlined.name : function.name,
							 line.file, line.line };
		if (!is_inlined)
			break;
		address = inlined.caller;
	}
	return count;
}
