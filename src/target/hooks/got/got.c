/*
 * Walks modules. Runs on limpet's threads, one at a time.
 */
#include "target/hooks/got/private.h"

#include "target/hooks/wants.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/mapping.h"

#include <errno.h>

static uint64_t page_size;
static const void *excluded[GOT_EXCLUDED_MAX];
static struct got_tables *tables;

int got_open(uint64_t given_size, const void *const given_excluded[GOT_EXCLUDED_MAX])
{
	struct got_tables *made = memory_map(sizeof(*made), MAP_NORESERVE);

	if (!made)
		return -ENOMEM;
	tables = made;
	page_size = given_size;
	got_ranges_reset();
	got_forget_known();
	for (unsigned i = 0; i < GOT_EXCLUDED_MAX; i++)
		excluded[i] = given_excluded[i];
	return 0;
}

void got_close(void)
{
	memory_unmap(tables, sizeof(*tables));
	tables = NULL;
}

struct got_tables *got_tables(void)
{
	return tables;
}

uint64_t got_page_size(void)
{
	return page_size;
}

bool got_is_excluded(const struct loaded_module *module)
{
	for (unsigned i = 0; i < GOT_EXCLUDED_MAX; i++)
		if (excluded[i] && module_has_code(module, (uint64_t)excluded[i]))
			return true;
	return pattern_matches("ld-linux*", 9, module->name) ||
	       pattern_matches("linux-vdso*", 11, module->name);
}

struct visit {
	void (*work)(void *);
	void *context;
};

static int visit_once(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct visit *visit = context;

	(void)info;
	(void)size;
	visit->work(visit->context);
	return 1;
}

void got_in_loader(void (*work)(void *), void *context)
{
	if (tables)
		libc_iterate(visit_once, &(struct visit){ work, context });
}

void *got_hold(uint64_t address)
{
	return libc_hold((const void *)address);
}

void got_release(void *module)
{
	if (module)
		libc_close(module);
}

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
	if (!module_read(info, page_size, &module) || !module_has_code(&module, search->code))
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

struct visiting {
	got_visit *visit;
	void *context;
};

static int visit_module(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct visiting *visiting = context;
	struct loaded_module module;

	(void)size;
	if (module_read(info, page_size, &module) && !got_is_excluded(&module))
		visiting->visit(info->dlpi_name, &module, visiting->context);
	return 0;
}

void got_each_module(got_visit *visit, void *context)
{
	libc_iterate(visit_module, &(struct visiting){ visit, context });
}
