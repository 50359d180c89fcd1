/*
 * Functions by the entries of .eh_frame, that no strip removes: where each begins and ends.
 */
#include <gelf.h>

#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"
#include "host/unwind/rules/frames.h"

struct code {
	uint64_t start, end;
};

/* The section with code at the address; segments may contain data, too.  The last one found is
 * tried first. */
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

static int add_entries(Elf *elf, const struct frames *frames, struct symbol_table *table)
{
	struct code code = { 0 };
	int r = 0;

	for (size_t i = 0; !r && i < frames->count; i++) {
		const struct frame_entry *entry = &frames->entries[i];

		if (find_code(elf, entry->start, &code))
			r = symbol_table_add(table,
					     &(struct symbol){ .address = entry->start,
							       .end = MIN(entry->end, code.end),
							       .limit = code.end,
							       .name = "",
							       .has_size = true });
	}
	return r;
}

int elf_starts_add(Elf *elf, struct symbol_table *table)
{
	struct frames frames;
	struct elf_part part;
	int r;

	if (!elf_section_part(elf, ".eh_frame", &part))
		return 0;
	r = frames_read(
		&frames,
		&(struct object_part){ part.bytes, part.size, part.address, .has_size = true },
		FRAMES_EH);
	if (r)
		return r;
	r = add_entries(elf, &frames, table);
	frames_done(&frames);
	return r;
}
