/*
 * .eh_frame_hdr: a sorted list of where functions begin, that no strip removes.
 *
 *   u8 version, u8 encoding of a pointer, u8 of the count, u8 of the table
 *   pointer to .eh_frame, count
 *   count times: i32 begin, i32 description, both from the begin of the section
 */
#include <gelf.h>
#include <string.h>

#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"

/* The only form that linkers write: 4 bytes each; the table relative to the section. */
enum encoding {
	POINTER_ENCODING = 0x1b,
	COUNT_ENCODING = 0x03,
	TABLE_ENCODING = 0x3b,
};

struct header {
	uint8_t version, pointer, count_encoding, table;
	int32_t eh_frame;
	uint32_t count;
};

struct entry {
	int32_t begin, description;
};

static bool is_known(const struct header *header)
{
	return header->version == 1 && header->pointer == POINTER_ENCODING &&
	       header->count_encoding == COUNT_ENCODING && header->table == TABLE_ENCODING;
}

struct code {
	uint64_t start, end;
};

/* The section with code in which the address lies; what segments have may be data, too.  The last
 * one that was found is tried first. */
static bool find_code(Elf *elf, uint64_t address, struct code *code)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	if (address - code->start < code->end - code->start)
		return true;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) && head.sh_flags & SHF_EXECINSTR &&
		    address - head.sh_addr < head.sh_size) {
			*code = (struct code){ head.sh_addr, head.sh_addr + head.sh_size };
			return true;
		}
	return false;
}

int elf_starts_add(Elf *elf, struct symbol_table *table)
{
	struct code code = { 0 };
	struct elf_part part;
	struct header header;
	int r = 0;

	if (!elf_section_part(elf, ".eh_frame_hdr", &part) || part.size < sizeof(header))
		return 0;
	memcpy(&header, part.bytes, sizeof(header));
	if (!is_known(&header))
		return 0;
	header.count =
		(uint32_t)MIN(header.count, (part.size - sizeof(header)) / sizeof(struct entry));
	for (uint32_t i = 0; !r && i < header.count; i++) {
		struct symbol symbol = { .name = "" };
		struct entry entry;

		memcpy(&entry, part.bytes + sizeof(header) + i * sizeof(entry), sizeof(entry));
		symbol.address = symbol.end = part.address + (uint64_t)(int64_t)entry.begin;
		if (!find_code(elf, symbol.address, &code))
			continue;
		symbol.limit = code.end;
		r = symbol_table_add(table, &symbol);
	}
	return r;
}
