/*
 * Stores libc's functions, and walks modules. Runs on limpet's threads, one at a time.
 */
#include "target/hooks/got/private.h"

#include "shared/arch/syscall.h"
#include "target/hooks/wants.h"

#include <errno.h>
#include <sys/mman.h>

static struct got_libc libc;
static const void *excluded[GOT_EXCLUDED_MAX];
static struct got_tables *tables;

int got_open(const struct got_libc *given, const void *const given_excluded[GOT_EXCLUDED_MAX])
{
	long r = raw6(SYS_mmap, 0, sizeof(struct got_tables), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (r < 0 && r > -4096)
		return -ENOMEM;
	tables = (struct got_tables *)r;
	libc = *given;
	got_ranges_reset();
	got_forget_known();
	for (unsigned i = 0; i < GOT_EXCLUDED_MAX; i++)
		excluded[i] = given_excluded[i];
	return 0;
}

void got_close(void)
{
	if (tables)
		raw2(SYS_munmap, tables, sizeof(*tables));
	tables = NULL;
}

struct got_tables *got_tables(void)
{
	return tables;
}

const struct got_libc *got_functions(void)
{
	return &libc;
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
		libc.iterate(visit_once, &(struct visit){ work, context });
}

void *got_hold(uint64_t address)
{
	return libc.hold ? libc.hold((const void *)address) : NULL;
}

void got_release(void *module)
{
	if (module)
		libc.close(module);
}

void *got_symbol_beside(uint64_t code, const char *name)
{
	void *module = got_hold(code);
	void *found = module ? libc.symbol(module, name) : NULL;

	got_release(module);
	return found;
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
	if (module_read(info, libc.page_size, &module) && !got_is_excluded(&module))
		visiting->visit(info->dlpi_name, &module, visiting->context);
	return 0;
}

void got_each_module(got_visit *visit, void *context)
{
	libc.iterate(visit_module, &(struct visiting){ visit, context });
}
