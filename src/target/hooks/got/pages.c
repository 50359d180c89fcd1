/*
 * Makes read-only entries writable, and restores entries. Runs on limpet's threads, while no module
 * can be unmapped.
 */
#include "target/hooks/got/private.h"

#include "shared/arch/syscall.h"
#include "target/runtime/libc_calls.h"

#include <sys/mman.h>

#define OPEN_SCANS 40u /* scans; after these, writable RELRO counts as final */

static bool is_relro(const struct loaded_module *module, const uint64_t *at)
{
	return (uint64_t)at >= module->relro && (uint64_t)at < module->relro_end;
}

static bool pages_protect(uint64_t start, uint64_t end, int protection)
{
	return !raw3(SYS_mprotect, start, end - start, protection);
}

/* False if the application has made some RELRO pages writable, and may rely on that. */
static bool is_uniform(const struct loaded_module *module)
{
	for (uint64_t page = module->relro; page < module->relro_end; page += got_page_size())
		if (word_is_writable((uint64_t *)page))
			return false;
	return true;
}

void got_close_module(struct scan *scan)
{
	if (scan->open_end)
		pages_protect(scan->open, scan->open_end, PROT_READ);
	scan->open = scan->open_end = 0;
}

/* Opens all of RELRO at once, or a single page if its pages differ. */
static bool open_module(struct scan *scan, uint64_t at)
{
	bool is_whole = is_uniform(&scan->module);
	uint64_t page = ALIGN_DOWN(at, got_page_size());

	got_close_module(scan);
	scan->open = is_whole ? scan->module.relro : page;
	scan->open_end = is_whole ? scan->module.relro_end : page + got_page_size();
	if (pages_protect(scan->open, scan->open_end, PROT_READ | PROT_WRITE))
		return true;
	scan->open = scan->open_end = 0;
	return false;
}

bool got_open_word(struct scan *scan, uint64_t *at)
{
	if (!is_relro(&scan->module, at))
		return word_is_writable(at);
	if ((uint64_t)at - scan->open < scan->open_end - scan->open)
		return true;
	if (!word_is_writable(at))
		return open_module(scan, (uint64_t)at);
	if (scan->known->open_scans >= OPEN_SCANS)
		return true;
	/* The loader has not finished relocating the module. */
	scan->known->open_scans++;
	scan->is_skipped = scan->report->is_unsettled = true;
	scan->is_clean = false;
	return false;
}

/* Makes read-only data writable only if it contains a patch: the loader may still be relocating a
 * module at the address of an unloaded one. */
static void restore_range(uint64_t key, uint64_t start, uint64_t end, struct patches_left *left)
{
	bool is_open = patches_held(key, start, end) && !word_is_writable((uint64_t *)start) &&
		       pages_protect(start, end, PROT_READ | PROT_WRITE);

	patches_restore(key, start, end, left);
	if (is_open)
		pages_protect(start, end, PROT_READ);
}

static int restore_module(struct dl_phdr_info *info, size_t size, void *left)
{
	struct loaded_module module;
	uint64_t step;

	(void)size;
	if (!module_read(info, got_page_size(), &module))
		return 0;
	got_forget_if_reloaded(&module, info->dlpi_subs);
	if (!patches_has(module.key))
		return 0;
	step = is_uniform(&module) ? module.relro_end - module.relro : got_page_size();
	for (uint64_t at = module.relro; at < module.relro_end; at += step)
		restore_range(module.key, at, at + step, left);
	patches_restore(module.key, 0, UINT64_MAX, left);
	return 0;
}

void got_restore(struct patches_left *left)
{
	if (got_tables())
		libc_iterate(restore_module, left);
}
