/*
 * Looks up entries that still lead to the loader, which binds these at the first call, and entries
 * that may lead to data. No function of the loader may be called while modules are walked, so
 * entries are noted there and looked up afterwards.
 */
#include "target/hooks/got/private.h"

#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

static void note_export(struct scan *scan)
{
	const Elf64_Sym *symbol = module_export(&scan->module);
	const char *name = symbol ? scan->module.strings + symbol->st_name : "";

	if (text_length(name) >= EXPORT_MAX)
		return;
	scan->known->export_address = symbol ? scan->module.bias + symbol->st_value : 0;
	text_add(scan->known->export, EXPORT_MAX, 0, name);
}

void got_note_unbound(struct scan *scan, const struct import *import, uint64_t value,
		      uint64_t original)
{
	const char *version = module_version(&scan->module, import->index);
	struct unbound *entry = &got_tables()->unbound[scan->unbound_count];

	if (text_length(import->name) >= SYMBOL_MAX ||
	    (version && text_length(version) >= VERSION_MAX)) {
		scan->report->refused++;
		return;
	}
	if (scan->unbound_count == UNBOUND_MAX) { /* the next scan continues here */
		scan->report->is_unsettled = true;
		scan->is_clean = false;
		return;
	}
	if (!original && !scan->known->had_unbound)
		note_export(scan);
	scan->known->had_unbound |= !original;
	*entry = (struct unbound){ import->at, value, original, scan->module.key,
				   scan->module.bias };
	text_add(entry->symbol, sizeof(entry->symbol), 0, import->name);
	text_add(entry->version, sizeof(entry->version), 0, version ? version : "");
	scan->unbound_count++;
}

static void *find_in(void *scope, const struct unbound *entry)
{
	void *found = NULL;

	if (entry->version[0])
		found = libc_symbol_of_version(scope, entry->symbol, entry->version);
	return found ? found : libc_symbol(scope, entry->symbol);
}

/* Searches the module and its dependencies. Only dlopen returns a handle that can be searched. */
static void *find_in_module(const struct unbound *entry)
{
	void *handle = got_hold(entry->key), *found;

	if (!handle)
		return NULL;
	found = find_in(handle, entry);
	got_release(handle);
	return found;
}

/* True if the module's symbols are global: then it was not loaded with RTLD_DEEPBIND. */
static bool is_global(const struct known_module *known)
{
	return known->key == got_program()->key ||
	       (known->export_address &&
		(uint64_t)libc_symbol(RTLD_DEFAULT, known->export) == known->export_address);
}

/*
 * Finds the symbol that the loader would bind: the first in the global scope, else in the module's
 * own scope; the other way round after RTLD_DEEPBIND, which cannot be queried. 0 if these differ:
 * then the loader must bind the entry first.
 */
static uint64_t find_binding(const struct unbound *entry)
{
	struct known_module *known = got_known(entry->key);
	void *found = find_in(RTLD_DEFAULT, entry), *own;

	if (found && known && is_global(known))
		return (uint64_t)found;
	own = find_in_module(entry);
	if (!found || !own || found == own)
		return (uint64_t)(found ? found : own);
	if (known)
		known->waits = true;
	return 0;
}

static bool is_function(uint64_t address)
{
	void *symbol = NULL;
	Dl_info module;

	return libc_find_symbol((const void *)address, &module, &symbol, RTLD_DL_SYMENT) &&
	       symbol && ELF64_ST_TYPE(((const Elf64_Sym *)symbol)->st_info) != STT_OBJECT;
}

uint64_t got_find_original(const struct unbound *entry)
{
	if (!entry->original)
		return find_binding(entry);
	return is_function(entry->original) ? entry->original : 0;
}
