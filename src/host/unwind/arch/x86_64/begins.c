/*
 * Where functions of x86-64 begin: at symbols.  Targets of calls show only while code is followed:
 * instructions differ in size, so bytes alone do not show a call.
 */
#include "host/unwind/arch/x86_64/begins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX ((uint64_t)1 << 30)

bool named_has(const struct code_begins *begins, uint64_t address)
{
	uint64_t number = address - begins->first;

	return begins->named && address >= begins->first && number < begins->count &&
	       begins->named[number / 8] >> number % 8 & 1;
}

/* Assemblers give other files' names no type; local names without one may be those of loops. */
static bool is_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC ||
		(type == STT_NOTYPE && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL));
}

static void add_symbols(struct code_begins *begins, const struct object *object, const char *name)
{
	struct object_part part;
	Elf64_Sym symbol;

	if (object_section(object, name, &part) < 0)
		return;
	for (uint64_t at = 0; part.size - at >= sizeof(symbol); at += sizeof(symbol)) {
		uint64_t number;

		memcpy(&symbol, part.bytes + at, sizeof(symbol));
		number = symbol.st_value - begins->first;
		if (is_function(&symbol) && symbol.st_value >= begins->first &&
		    number < begins->count)
			begins->named[number / 8] |= (unsigned char)(1 << number % 8);
	}
}

int named_find(const struct object *object, struct code_begins *ret)
{
	struct object_part part;
	uint64_t end;

	*ret = (struct code_begins){ 0 };
	if (!object_code(object, &ret->first, &end) || end - ret->first > CODE_MAX)
		return 0;
	ret->count = end - ret->first;
	ret->named = calloc(1, ret->count / 8 + 1);
	if (!ret->named)
		return -ENOMEM;
	ret->is_whole = !object_section(object, ".symtab", &part);
	add_symbols(ret, object, ".symtab");
	add_symbols(ret, object, ".dynsym");
	return 0;
}
