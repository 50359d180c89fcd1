/*
 * Makes read-only entries writable. Runs on limpet's threads, while no module can be unmapped.
 */
#include "target/hooks/got/private.h"

#include "shared/arch/syscall.h"

#include <sys/mman.h>

#define OPEN_SCANS 40u /* scans; after these, writable RELRO counts as final */

static bool is_relro(const struct loaded_module *module, const uint64_t *at)
{
	return (uint64_t)at >= module->relro && (uint64_t)at < module->relro_end;
}

bool got_protect(uint64_t start, uint64_t end, int protection)
{
	return !raw3(SYS_mprotect, start, end - start, protection);
}

bool got_is_uniform(const struct loaded_module *module)
{
	for (uint64_t page = module->relro; page < module->relro_end;
	     page += got_functions()->page_size)
		if (word_is_writable((uint64_t *)page))
			return false;
	return true;
}

void got_close_module(struct scan *scan)
{
	if (scan->open_end)
		got_protect(scan->open, scan->open_end, PROT_READ);
	scan->open = scan->open_end = 0;
}

/* Opens all of RELRO at once, or a single page if its pages differ. */
static bool open_module(struct scan *scan, uint64_t at)
{
	bool is_whole = got_is_uniform(&scan->module);
	uint64_t page = ALIGN_DOWN(at, got_functions()->page_size);

	got_close_module(scan);
	scan->open = is_whole ? scan->module.relro : page;
	scan->open_end = is_whole ? scan->module.relro_end : page + got_functions()->page_size;
	if (got_protect(scan->open, scan->open_end, PROT_READ | PROT_WRITE))
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
