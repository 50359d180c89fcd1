/*
 * Restores import entries. Runs on limpet's threads, while no module can be unmapped.
 */
#include "target/hooks/got/private.h"

#include <sys/mman.h>

/* Makes read-only data writable only if it contains a patch: the loader may still be relocating a
 * module at the address of an unloaded one. */
static void restore_range(uint64_t key, uint64_t start, uint64_t end, struct patches_left *left)
{
	bool is_open = patches_held(key, start, end) && !word_is_writable((uint64_t *)start) &&
		       got_protect(start, end, PROT_READ | PROT_WRITE);

	patches_restore(key, start, end, left);
	if (is_open)
		got_protect(start, end, PROT_READ);
}

static int restore_module(struct dl_phdr_info *info, size_t size, void *left)
{
	struct loaded_module module;
	uint64_t step;

	(void)size;
	if (!module_read(info, got_functions()->page_size, &module))
		return 0;
	got_forget_if_reloaded(&module, info->dlpi_subs);
	if (!patches_has(module.key))
		return 0;
	step = got_is_uniform(&module) ? module.relro_end - module.relro
				       : got_functions()->page_size;
	for (uint64_t at = module.relro; at < module.relro_end; at += step)
		restore_range(module.key, at, at + step, left);
	patches_restore(module.key, 0, UINT64_MAX, left);
	return 0;
}

void got_restore(struct patches_left *left)
{
	if (got_tables())
		got_functions()->iterate(restore_module, left);
}
