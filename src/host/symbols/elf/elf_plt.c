/*
 * Names of entries of the procedure linkage table: the word that an entry jumps through has a
 * relocation, and that one names the function.
 */
#include <gelf.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"
#include "host/unwind/arch/code.h"
#include "shared/arch/elf.h"

static const char *const plt_sections[] = { ".plt", ".plt.sec", ".plt.got" };

/* Behind all real names. */
#define PLT_RANK 0u

static const char *symbol_name(Elf *elf, Elf_Data *symbols, size_t strings, uint64_t number)
{
	GElf_Sym symbol;

	return number <= INT32_MAX && gelf_getsym(symbols, (int)number, &symbol)
		       ? elf_strptr(elf, strings, symbol.st_name)
		       : NULL;
}

/* Words of one section of relocations; they become symbols of one byte. */
static int add_words(Elf *elf, Elf_Scn *section, const GElf_Shdr *head, struct symbol_table *words)
{
	Elf_Scn *symbol_section = elf_getscn(elf, head->sh_link);
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *symbols = symbol_section ? elf_getdata(symbol_section, NULL) : NULL;
	size_t count = data ? data->d_size / sizeof(Elf64_Rela) : 0;
	const struct code_reader *reader = unwind_machine_of(ARCH_ELF_MACHINE)->code;
	GElf_Shdr symbol_head;
	int r = 0;

	if (!symbols || !gelf_getshdr(symbol_section, &symbol_head))
		return 0;
	for (size_t i = 0; !r && i < MIN(count, (size_t)INT32_MAX); i++) {
		GElf_Rela rela;
		const char *name;
		unsigned type;

		if (!gelf_getrela(data, (int)i, &rela))
			continue;
		type = (unsigned)GELF_R_TYPE(rela.r_info);
		if (type != reader->plt_relocations[0] && type != reader->plt_relocations[1])
			continue;
		name = symbol_name(elf, symbols, symbol_head.sh_link, GELF_R_SYM(rela.r_info));
		if (name && name[0])
			r = symbol_table_add(words, &(struct symbol){ .address = rela.r_offset,
								      .end = rela.r_offset + 1,
								      .name = name });
	}
	return r;
}

static int read_words(Elf *elf, struct symbol_table *words)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	int r = 0;

	while (!r && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) && head.sh_type == SHT_RELA)
			r = add_words(elf, section, &head, words);
	symbol_table_finish(words);
	return r;
}

/* Entries have 8 or 16 bytes; whatever can be decoded as one is one. */
static int add_entries(const struct elf_part *part, const struct symbol_table *words,
		       struct symbol_table *table)
{
	const struct code_reader *reader = unwind_machine_of(ARCH_ELF_MACHINE)->code;
	int r = 0;

	for (size_t at = 0; !r && at < part->size; at += PLT_ENTRY_BYTES / 2) {
		unsigned char entry[PLT_ENTRY_BYTES] = { 0 };
		uint64_t address = part->address + at, word;
		const struct symbol *symbol;

		memcpy(entry, part->bytes + at, MIN(part->size - at, sizeof(entry)));
		symbol = reader->plt_word(entry, address, &word) ? symbol_table_find(words, word)
								 : NULL;
		if (symbol)
			r = symbol_table_add(table,
					     &(struct symbol){ .address = address,
							       .end = address,
							       .limit = address + PLT_ENTRY_BYTES,
							       .rank = PLT_RANK,
							       .name = symbol->name });
	}
	return r;
}

int elf_plt_add(Elf *elf, struct symbol_table *table)
{
	CLEANUP(symbol_table_done) struct symbol_table words = { 0 };
	int r = read_words(elf, &words);

	for (size_t i = 0; !r && i < ARRAY_SIZE(plt_sections); i++) {
		struct elf_part part;

		if (elf_section_part(elf, plt_sections[i], &part))
			r = add_entries(&part, &words, table);
	}
	return r;
}
