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

/* Code that lies together: a section, or where there are none a segment, which may end with data.
 */
struct code {
	uint64_t start, end;
};

static bool is_in(const struct code *code, uint64_t address)
{
	return address >= code->start && address < code->end;
}

static bool find_section(Elf *elf, uint64_t address, struct code *ret)
{
	GElf_Shdr head;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		if (!gelf_getshdr(section, &head) || !(head.sh_flags & SHF_EXECINSTR))
			continue;
		*ret = (struct code){ head.sh_addr, head.sh_addr + head.sh_size };
		if (is_in(ret, address))
			return true;
	}
	return false;
}

static bool find_segment(Elf *elf, uint64_t address, struct code *ret)
{
	size_t count = 0;
	GElf_Phdr head;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < MIN(count, 64u); i++) {
		if (!gelf_getphdr(elf, (int)i, &head) || head.p_type != PT_LOAD ||
		    !(head.p_flags & PF_X))
			continue;
		*ret = (struct code){ head.p_vaddr, head.p_vaddr + head.p_memsz };
		if (is_in(ret, address))
			return true;
	}
	return false;
}

/* The end of the code where the address lies, which is that of the address before mostly; 0: it
 * lies nowhere. */
static uint64_t limit_of(Elf *elf, uint64_t address, struct code *code)
{
	if (is_in(code, address) || find_section(elf, address, code) ||
	    find_segment(elf, address, code))
		return code->end;
	*code = (struct code){ 0, 0 };
	return 0;
}

int elf_starts_add(Elf *elf, struct symbol_table *table)
{
	struct elf_part part;
	struct code code = { 0, 0 };
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
		symbol.limit = limit_of(elf, symbol.address, &code);
		if (symbol.limit)
			r = symbol_table_add(table, &symbol);
	}
	return r;
}
