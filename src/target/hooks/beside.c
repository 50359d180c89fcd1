/*
 * Runs on any thread, including one that is walking modules.
 */
#include "target/hooks/beside.h"

#include "target/hooks/got/got.h"
#include "target/hooks/module.h"
#include "target/runtime/libc_calls.h"

struct search {
	uint64_t code;
	const char *name;
	struct beside found;
};

static int search_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	struct loaded_module module;
	const Elf64_Sym *symbol;

	(void)size;
	if (!module_read(info, got_functions()->page_size, &module) ||
	    !module_has_code(&module, search->code))
		return 0;
	symbol = module_symbol(&module, search->name);
	if (symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
		search->found = (struct beside){ module.bias + symbol->st_value, symbol->st_size };
	return 1;
}

struct beside beside_find(uint64_t code, const char *name)
{
	struct search search = { code, name, { 0, 0 } };

	libc_iterate(search_module, &search);
	return search.found;
}
