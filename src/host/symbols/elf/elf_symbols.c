/*
 * Symbols of code.  All bytes are foreign; libelf keeps within them.
 */
#include "host/symbols/elf/elf_symbols.h"

#include <string.h>

/* An executable section that holds the symbol; false when there is none. */
static bool find_limit(Elf *elf, const GElf_Sym *symbol, uint64_t *ret)
{
	Elf_Scn *section = symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE
				   ? elf_getscn(elf, symbol->st_shndx)
				   : NULL;
	GElf_Shdr head;

	if (!section || !gelf_getshdr(section, &head) || !(head.sh_flags & SHF_EXECINSTR) ||
	    symbol->st_value < head.sh_addr || symbol->st_value - head.sh_addr >= head.sh_size)
		return false;
	*ret = head.sh_addr + head.sh_size;
	return true;
}

/* The last function of the start code that compilers link first.  It has no size, and GHC's code
 * that follows has no names of its own: in each version it fits into so many bytes. */
#define LAST_OF_START_CODE "frame_dummy"
#define START_CODE_BYTES   16u

static uint64_t limit_of(const GElf_Sym *symbol, const char *name, uint64_t limit)
{
	if (symbol->st_size || strcmp(name, LAST_OF_START_CODE) != 0)
		return limit;
	return MIN(limit, symbol->st_value + START_CODE_BYTES);
}

/* By the type of a symbol, from 1; 0: it never names code.  GHC's functions are objects in .text.
 */
static uint64_t rank_of_type(unsigned type)
{
	static const uint8_t ranks[] = {
		[STT_FUNC] = 3, [STT_GNU_IFUNC] = 3, [STT_OBJECT] = 2, [STT_NOTYPE] = 1
	};

	return type < ARRAY_SIZE(ranks) ? ranks[type] : 0;
}

/* Functions before objects and labels, those with a size before those without, global ones before
 * local ones, and of equals the name with fewer leading underscores. */
static uint64_t rank_of(const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
	uint64_t underscores = 0;

	while (underscores < 7 && name[underscores] == '_')
		underscores++;
	return rank_of_type(type) << 8 | (uint64_t)(symbol->st_size > 0) << 7 |
	       (uint64_t)(binding == STB_GLOBAL ? 2 : binding == STB_WEAK) << 4 | (7 - underscores);
}

static int symbol_add(Elf *elf, const GElf_Sym *symbol, const char *name, void *context)
{
	struct symbol_table *table = context;
	uint64_t limit;

	/* Assemblers leave internal names. */
	if (!rank_of_type(GELF_ST_TYPE(symbol->st_info)) || !name || !name[0] || name[0] == '$' ||
	    strncmp(name, ".L", 2) == 0 || !find_limit(elf, symbol, &limit))
		return 0;
	limit = limit_of(symbol, name, limit);
	return symbol_table_add(
		table,
		&(struct symbol){
			.address = symbol->st_value,
			.end = symbol->st_value + MIN(symbol->st_size, limit - symbol->st_value),
			.limit = limit,
			.rank = rank_of(symbol, name),
			.name = name,
			.has_size = symbol->st_size > 0,
		});
}

static int section_each(Elf *elf, Elf_Scn *section, const GElf_Shdr *head,
			elf_symbol_visitor *visit, void *context)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && head->sh_entsize ? data->d_size / sizeof(Elf64_Sym) : 0;
	int r = 0;

	for (size_t i = 0; !r && i < MIN(count, (size_t)INT32_MAX); i++) {
		GElf_Sym symbol;

		if (gelf_getsym(data, (int)i, &symbol))
			r = visit(elf, &symbol, elf_strptr(elf, head->sh_link, symbol.st_name),
				  context);
	}
	return r;
}

int elf_symbols_each(Elf *elf, elf_symbol_visitor *visit, void *context)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	int r = 0;

	while (!r && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) &&
		    (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM))
			r = section_each(elf, section, &head, visit, context);
	return r;
}

int elf_symbols_add(Elf *elf, struct symbol_table *table)
{
	return elf_symbols_each(elf, symbol_add, table);
}
