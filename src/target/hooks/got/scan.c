/*
 * Finds import entries and hooks them. Runs on limpet's threads, one at a time. Modules are read
 * and changed only inside a callback of dl_iterate_phdr, during which none can be unmapped. No
 * other function of the loader may be called there (it would take the loader's locks in the other
 * order), so unbound symbols are noted in a first walk, looked up, and hooked in a second.
 *
 * A module may be in the list before the loader has relocated it. Then its entries hold no address
 * of code, or lie in memory that is not read-only yet; both are left to the next scan.
 */
#include "target/hooks/got/private.h"

#include "target/hooks/wants.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

#include <errno.h>

#define CLEAN_SCANS 6u /* until a call that was inside the loader has returned */

/* The function that an import resolves to; version: the required one, NULL or empty: any. */
struct binding {
	uint64_t original;
	const char *name, *version;
};

static uint32_t known_count;
static enum got_words chosen;

void got_choose_words(enum got_words words)
{
	chosen = words;
}

struct known_module *got_known(uint64_t key)
{
	for (uint32_t i = 0; i < known_count; i++)
		if (got_tables()->known[i].key == key)
			return &got_tables()->known[i];
	return NULL;
}

void got_forget_known(void)
{
	known_count = 0;
	got_forget_call_words();
}

/* Returns NULL if there is no room, or the module needs no more scans. */
static struct known_module *known_module_add(uint64_t key)
{
	struct known_module *known = got_known(key);

	if (!known) {
		if (known_count == KNOWN_MAX)
			return NULL;
		known = &got_tables()->known[known_count++];
		*known = (struct known_module){ .key = key };
	}
	if (known->waits || known->clean_scans < (known->had_unbound ? CLEAN_SCANS : 1))
		return known;
	return NULL;
}

/* True if the entry leads to the loader, which would bind it at the first call. */
static bool is_unbound(const struct scan *scan, const struct import *import,
		       const struct code_range *range, uint64_t value)
{
	const Elf64_Sym *symbol = import->symbol;

	if (import->type != RELOC_CALL || range->key != scan->module.key)
		return false;
	return symbol->st_shndx == SHN_UNDEF || (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC &&
						 value != scan->module.bias + symbol->st_value);
}

/* In a position-dependent executable, an imported function's address is that of the executable's
 * PLT entry, for all modules: the entry that the PLT code uses is hooked, this one is not. */
static bool is_jump_of_program(const struct import *import, uint64_t value)
{
	const struct loaded_module *program = got_program();

	for (size_t i = 1; i < program->first_defined; i++) {
		const Elf64_Sym *symbol = &program->symbols[i];

		if (symbol->st_shndx == SHN_UNDEF && symbol->st_value &&
		    program->bias + symbol->st_value == value &&
		    text_equal(program->strings + symbol->st_name, import->name))
			return true;
	}
	return false;
}

/* An import from libc has libc's symbol version, even if another library interposes it. */
static bool is_libcs(const struct code_range *range, const char *version)
{
	return (version && pattern_matches("GLIBC_*", 7, version)) ||
	       pattern_matches("libc.so*", 8, range->name) ||
	       pattern_matches("libc-*", 6, range->name) ||
	       pattern_matches("libpthread*", 11, range->name);
}

/* Returns an announced hook, or NULL. */
static struct hook *make_hook(const struct binding *to, const struct traced *traced,
			      const struct code_range *range)
{
	struct function_name name = { traced->name ? traced->name : to->name, range->name };
	struct hook *hook = hook_get(to->original, traced, &name);

	return hook && (traced->way == HOOK_NOTICE || hook_announce(hook, &name)) ? hook : NULL;
}

/* Returns what to trace of a function in this code; NULL: nothing. */
static const struct traced *find_traced(const struct code_range *range, const struct binding *to)
{
	const struct traced *traced =
		range ? wants_find(to->name, range->name, is_libcs(range, to->version)) : NULL;

	if (!traced || got_is_covered(range->key, traced->domain) ||
	    (traced->but_in &&
	     pattern_matches(traced->but_in, text_length(traced->but_in), range->name)))
		return NULL;
	return traced;
}

/* Hooks one entry, which holds `value`, with a hook for its function. */
static void hook_word(struct scan *scan, uint64_t *at, uint64_t value, const struct binding *to)
{
	const struct code_range *range = got_range(to->original);
	const struct traced *traced = find_traced(range, to);
	struct hook *hook;
	int r;

	if (!traced)
		return;
	hook = make_hook(to, traced, range);
	if (!hook) {
		scan->report->refused++;
		return;
	}
	if (!got_open_word(scan, at)) {
		scan->report->unwritable += !scan->is_skipped;
		return;
	}
	r = patch_apply(&(struct patch){ at, value, hook_stub(hook), scan->module.key });
	scan->report->refused += r == -ENOSPC;
	scan->report->is_unsettled |= r == -EAGAIN;
	scan->report->hooked += !r;
	scan->is_clean = false;
	if (traced->way != HOOK_NOTICE)
		scan->report->domains |= 1u << traced->domain;
}

/* The value is no address of code: data, not relocated yet, or an unresolved weak import. */
static bool is_unsettled(const struct scan *scan, const struct import *import, uint64_t value)
{
	if (value)
		return value < scan->module.data_end - scan->module.bias;
	return ELF64_ST_BIND(import->symbol->st_info) != STB_WEAK;
}

static void note_left_word(struct scan *scan, const struct import *import)
{
	struct hooks_report *report = scan->report;
	const char *module = scan->module.name[0] ? scan->module.name : "the program";

	if (!scan->known->left++ && !report->left_function[0]) {
		text_add(report->left_function, sizeof(report->left_function), 0, import->name);
		text_add(report->left_module, sizeof(report->left_module), 0, module);
	}
}

/*
 * True if the function is traced, and the entry used only for calls. Of entries that the loader
 * fills with addresses only the code shows that; the application may read those in its own tables.
 */
static bool is_for_calls(struct scan *scan, const struct import *import,
			 const struct code_range *range, const struct binding *to)
{
	const struct traced *traced;

	if (import->type == RELOC_CALL || chosen == GOT_WORDS_ALL)
		return true;
	traced = find_traced(range, to);
	if (!traced || traced->is_only_called || got_is_call_only(scan, import))
		return traced;
	if (traced->way != HOOK_NOTICE)
		note_left_word(scan, import);
	return false;
}

static void scan_consider_import(struct scan *scan, const struct import *import)
{
	uint64_t value = __atomic_load_n(import->at, __ATOMIC_RELAXED);
	const struct code_range *range = got_range(value);
	struct binding to = { value, import->name, NULL };

	if (hook_is_stub(value))
		return;
	if (!range) {
		if (is_unsettled(scan, import, value)) {
			scan->report->is_unsettled = true;
			scan->is_clean = false;
		}
		return;
	}
	to.version = module_version(&scan->module, import->index);
	if (is_unbound(scan, import, range, value))
		got_note_unbound(scan, import, value, 0);
	else if ((range->key == got_program()->key && is_jump_of_program(import, value)) ||
		 !is_for_calls(scan, import, range, &to))
		return;
	else if (import->type != RELOC_CALL && /* it may be data among code */
		 ELF64_ST_TYPE(import->symbol->st_info) == STT_NOTYPE)
		got_note_unbound(scan, import, value, value);
	else
		hook_word(scan, import->at, value, &to);
}

/* Entries of other types hold no function's address. */
static bool is_import(unsigned type, int64_t addend)
{
	if (type == RELOC_CALL)
		return true;
	return chosen != GOT_WORDS_CALLS &&
	       (type == RELOC_ADDRESS || (type == RELOC_WORD && !addend));
}

static bool read_import(const struct loaded_module *module, const Elf64_Rela *item,
			struct import *ret)
{
	unsigned type = (unsigned)ELF64_R_TYPE(item->r_info), kind;

	if (!is_import(type, item->r_addend))
		return false;
	ret->at = (uint64_t *)(module->bias + item->r_offset);
	ret->type = type;
	ret->index = ELF64_R_SYM(item->r_info);
	ret->symbol = &module->symbols[ret->index];
	ret->name = module->strings + ret->symbol->st_name;
	kind = ELF64_ST_TYPE(ret->symbol->st_info);
	return ret->index && kind != STT_OBJECT && kind != STT_TLS &&
	       !(ret->symbol->st_other & OTHER_CALL) && (uint64_t)ret->at % sizeof(uint64_t) == 0;
}

static void scan_imports(struct scan *scan)
{
	struct import import;

	for (unsigned list = 0; list < ARRAY_SIZE(scan->module.relocations); list++)
		for (size_t i = 0; i < scan->module.relocations[list].count; i++)
			if (!scan->is_skipped &&
			    read_import(&scan->module, &scan->module.relocations[list].items[i],
					&import) &&
			    wants_symbol(import.name))
				scan_consider_import(scan, &import);
}

static int scan_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct scan *scan = context;

	(void)size;
	if (!module_read(info, got_page_size(), &scan->module) || got_is_excluded(&scan->module))
		return 0;
	scan->known = known_module_add(scan->module.key);
	if (!scan->known)
		return 0;
	got_forget_if_reloaded(&scan->module, info->dlpi_subs);
	scan->is_skipped = false;
	scan->is_clean = true;
	scan->known->waits = false;
	scan->known->left = 0;
	scan_imports(scan);
	got_close_module(scan);
	scan->is_clean &= scan->known->code != CODE_WANTED;
	scan->known->clean_scans = scan->is_clean ? scan->known->clean_scans + 1 : 0;
	scan->report->is_unsettled |= known_module_add(scan->module.key) != NULL;
	return 0;
}

static int hook_unbound(struct dl_phdr_info *info, size_t size, void *context)
{
	struct scan *scan = context;

	(void)size;
	if (!module_read(info, got_page_size(), &scan->module))
		return 0;
	scan->known = known_module_add(scan->module.key);
	if (!scan->known)
		return 0;
	got_forget_if_reloaded(&scan->module, info->dlpi_subs);
	scan->is_clean = true;
	for (uint32_t i = 0; i < scan->unbound_count; i++) {
		const struct unbound *entry = &got_tables()->unbound[i];

		if (entry->key == scan->module.key && entry->bias == scan->module.bias &&
		    entry->original && !hook_is_stub(entry->original))
			hook_word(scan, entry->at, entry->value,
				  &(struct binding){ entry->original, entry->symbol,
						     entry->version });
	}
	got_close_module(scan);
	if (!scan->is_clean)
		scan->known->clean_scans = 0;
	return 0;
}

/* Walks twice if code had to be decoded first. */
static void walk_modules(struct scan *scan, bool reads_code)
{
	libc_iterate(scan_module, scan);
	if (!reads_code || !got_read_code(got_tables()->known, known_count))
		return;
	scan->unbound_count = 0;
	scan->report->is_unsettled = false;
	scan->report->left_function[0] = '\0';
	libc_iterate(scan_module, scan);
}

void got_scan(struct hooks_report *ret, bool reads_code)
{
	struct scan scan = { .report = ret };

	*ret = (struct hooks_report){ 0 };
	got_begin_scan();
	walk_modules(&scan, reads_code);
	for (uint32_t i = 0; i < scan.unbound_count; i++)
		got_tables()->unbound[i].original = got_find_original(&got_tables()->unbound[i]);
	if (scan.unbound_count)
		libc_iterate(hook_unbound, &scan);
	for (uint32_t i = 0; i < known_count; i++) {
		ret->is_unsettled |= got_tables()->known[i].waits;
		ret->left += got_tables()->known[i].left;
	}
}
