/*
 * Runs on threads of ours, one at a time.  Modules are read and changed only inside a callback of
 * dl_iterate_phdr: while it runs, none can be unmapped.  No other function of the loader's may be
 * called there (it would take its locks in the other order), so symbols that are not bound yet are
 * noted in a first walk, looked up, and changed in a second.
 *
 * A module may be in the list before the loader has relocated it.  Then its words hold no address
 * of code, or lie in memory that is going to be read-only and is not yet; both are left for the
 * next scan.
 */
#include "target/hooks/got.h"

#include "shared/arch/syscall.h"
#include "target/hooks/module.h"
#include "target/hooks/wants.h"
#include "target/runtime/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define RANGES_MAX  16384u
#define KNOWN_MAX   16384u
#define UNBOUND_MAX 4096u
#define COVERED_MAX 64u
#define CLEAN_SCANS 6u  /* until a call that was in the loader has left it */
#define OPEN_SCANS  40u /* until what the loader leaves writable is to stay so */
#define SYMBOL_MAX  480u
#define VERSION_MAX 64u
#define EXPORT_MAX  128u

#if defined(__x86_64__)
#define RELOC_CALL    R_X86_64_JUMP_SLOT
#define RELOC_ADDRESS R_X86_64_GLOB_DAT
#define RELOC_WORD    R_X86_64_64
#define OTHER_CALL    0 /* no symbol keeps to another calling convention */
#else
#define RELOC_CALL    R_AARCH64_JUMP_SLOT
#define RELOC_ADDRESS R_AARCH64_GLOB_DAT
#define RELOC_WORD    R_AARCH64_ABS64
#define OTHER_CALL    0x80 /* STO_AARCH64_VARIANT_PCS */
#endif

struct code_range {
	uint64_t start, size, key;
	uint64_t data, data_end; /* of its module */
	char name[TRACE_LIBRARY_MAX];
};

/* The function that an import stands for; version: the one it asks for, NULL or empty: any. */
struct binding {
	uint64_t original;
	const char *name, *version;
};

/* A word that still leads to the loader, or that may lead to data: then its original is given. */
struct unbound {
	uint64_t *at;
	uint64_t value, original, key, bias;
	char symbol[SYMBOL_MAX];
	char version[VERSION_MAX];
};

/* How often a module was scanned with nothing to do, and what is needed to look up its symbols
 * while it may be gone. */
struct known_module {
	uint64_t key;
	uint32_t clean_scans, open_scans;
	bool had_unbound;
	bool waits; /* for the loader to bind what we cannot */
	uint64_t export_address;
	char export[EXPORT_MAX];
};

struct tables {
	struct known_module known[KNOWN_MAX];
	struct code_range ranges[RANGES_MAX];
	struct unbound unbound[UNBOUND_MAX];
};

/* A module whose calls of a domain are seen elsewhere. */
struct covered_module {
	uint64_t key;
	enum trace_domain domain;
};

struct scan {
	struct got_report *report;
	struct loaded_module module;
	struct known_module *known; /* what is known of it */
	uint32_t unbound_count;
	uint64_t open, open_end; /* what was made writable of it */
	bool is_skipped;
	bool is_clean; /* there was nothing to do in it */
};

/* An import: its relocation, its symbol. */
struct import {
	uint64_t *at;
	unsigned type;
	size_t index;
	const Elf64_Sym *symbol;
	const char *name;
};

static struct got_libc libc;
static const void *excluded[GOT_EXCLUDED_MAX];
static struct tables *tables;
static uint32_t range_count, known_count;
static struct loaded_module program;
static struct covered_module covered[COVERED_MAX];
static unsigned covered_count;
static unsigned long long adds_seen, subs_seen, subs_first;

int got_open(const struct got_libc *given, const void *const given_excluded[GOT_EXCLUDED_MAX])
{
	long r = raw6(SYS_mmap, 0, sizeof(struct tables), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (r < 0 && r > -4096)
		return -ENOMEM;
	tables = (struct tables *)r;
	libc = *given;
	adds_seen = subs_seen = subs_first = 0;
	known_count = covered_count = 0;
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

/* Ours, the loader itself, and what the kernel maps. */
static bool is_excluded(const struct loaded_module *module)
{
	for (unsigned i = 0; i < GOT_EXCLUDED_MAX; i++)
		if (excluded[i] && module_has_code(module, (uint64_t)excluded[i]))
			return true;
	return pattern_matches("ld-linux*", 9, module->name) ||
	       pattern_matches("linux-vdso*", 11, module->name);
}

static int note_ranges(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *name = info->dlpi_name;
	struct loaded_module module;

	(void)size;
	(void)unused;
	adds_seen = info->dlpi_adds;
	if (subs_seen != info->dlpi_subs)
		known_count = 0; /* another module may have come to where one was */
	subs_seen = info->dlpi_subs;
	if (!module_read(info, libc.page_size, &module))
		return 0;
	if (!range_count)
		program = module;
	if (!subs_first)
		subs_first = info->dlpi_subs + 1;
	for (const char *at = info->dlpi_name; *at; at++)
		if (*at == '/')
			name = at + 1;
	for (size_t i = 0; i < module.header_count && range_count < RANGES_MAX; i++) {
		const Elf64_Phdr *header = &module.headers[i];
		struct code_range *range = &tables->ranges[range_count];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		*range = (struct code_range){ module.bias + header->p_vaddr,
					      header->p_memsz,
					      module.key,
					      module.data,
					      module.data_end,
					      "" };
		text_add(range->name, sizeof(range->name), 0, name);
		range_count++;
	}
	return 0;
}

static bool is_in(const struct code_range *range, uint64_t address)
{
	return address - range->start < range->size;
}

/* Mostly the same one as the last time. */
static const struct code_range *range_of(uint64_t address)
{
	static uint32_t last;

	if (last < range_count && is_in(&tables->ranges[last], address))
		return &tables->ranges[last];
	for (uint32_t i = 0; i < range_count; i++)
		if (is_in(&tables->ranges[i], address))
			return &tables->ranges[last = i];
	return NULL;
}

void got_look_around(void)
{
	range_count = 0;
	libc.iterate(note_ranges, NULL);
}

const char *got_library(uint64_t code)
{
	const struct code_range *range = range_of(code);

	return range ? range->name : "";
}

bool got_has_module(const char *pattern)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (pattern_matches(pattern, text_length(pattern), tables->ranges[i].name))
			return true;
	return false;
}

static bool is_covered(uint64_t key, enum trace_domain domain)
{
	for (unsigned i = 0; i < covered_count; i++)
		if (covered[i].key == key && covered[i].domain == domain)
			return true;
	return false;
}

static const struct code_range *range_with_data(uint64_t address)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (address >= tables->ranges[i].data && address < tables->ranges[i].data_end)
			return &tables->ranges[i];
	return NULL;
}

bool got_has_data(uint64_t address)
{
	return range_with_data(address) != NULL;
}

bool got_has_code(uint64_t address)
{
	return range_of(address) != NULL;
}

void got_cover(uint64_t data, enum trace_domain domain)
{
	const struct code_range *range = range_with_data(data);

	if (!range || covered_count == COVERED_MAX || is_covered(range->key, domain))
		return;
	covered[covered_count++] = (struct covered_module){ range->key, domain };
	for (uint32_t i = 0; i < range_count; i++)
		if (tables->ranges[i].key == range->key)
			hooks_mute(domain, tables->ranges[i].start, tables->ranges[i].size);
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
	Dl_info module;

	if (!libc.find_module || !libc.find_module((const void *)address, &module))
		return NULL;
	return libc.open(module.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
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

/* Does the word lead to the loader, which would bind it at the first call? */
static bool is_unbound(const struct scan *scan, const struct import *import,
		       const struct code_range *range, uint64_t value)
{
	const Elf64_Sym *symbol = import->symbol;

	if (import->type != RELOC_CALL || range->key != scan->module.key)
		return false;
	return symbol->st_shndx == SHN_UNDEF || (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC &&
						 value != scan->module.bias + symbol->st_value);
}

/* In a program that is not position independent, an imported function's address is that of the
 * program's own jump to it, for all modules: that jump is hooked, this is not. */
static bool is_jump_of_program(const struct import *import, uint64_t value)
{
	for (size_t i = 1; i < program.first_defined; i++) {
		const Elf64_Sym *symbol = &program.symbols[i];

		if (symbol->st_shndx == SHN_UNDEF && symbol->st_value &&
		    program.bias + symbol->st_value == value &&
		    text_equal(program.strings + symbol->st_name, import->name))
			return true;
	}
	return false;
}

static void note_export(struct scan *scan)
{
	const Elf64_Sym *symbol = module_export(&scan->module);
	const char *name = symbol ? scan->module.strings + symbol->st_name : "";

	if (text_length(name) >= EXPORT_MAX)
		return;
	scan->known->export_address = symbol ? scan->module.bias + symbol->st_value : 0;
	text_add(scan->known->export, EXPORT_MAX, 0, name);
}

/* Could it be data that lies among code?  What is only called is none. */
static bool may_be_data(const struct import *import)
{
	return import->type != RELOC_CALL && ELF64_ST_TYPE(import->symbol->st_info) == STT_NOTYPE;
}

static void note_unbound(struct scan *scan, const struct import *import, uint64_t value,
			 uint64_t original)
{
	const char *version = module_version(&scan->module, import->index);
	struct unbound *entry = &tables->unbound[scan->unbound_count];

	if (text_length(import->name) >= SYMBOL_MAX ||
	    (version && text_length(version) >= VERSION_MAX)) {
		scan->report->refused++;
		return;
	}
	if (scan->unbound_count == UNBOUND_MAX) { /* the next scan goes on from here */
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

static bool is_relro(const struct loaded_module *module, const uint64_t *at)
{
	return (uint64_t)at >= module->relro && (uint64_t)at < module->relro_end;
}

static bool protect(uint64_t start, uint64_t end, int protection)
{
	return !raw3(SYS_mprotect, start, end - start, protection);
}

/* The program may have made some of its pages writable, and counts on it. */
static bool is_uniform(const struct loaded_module *module)
{
	for (uint64_t page = module->relro; page < module->relro_end; page += libc.page_size)
		if (word_is_writable((uint64_t *)page))
			return false;
	return true;
}

static void close_module(struct scan *scan)
{
	if (scan->open_end)
		protect(scan->open, scan->open_end, PROT_READ);
	scan->open = scan->open_end = 0;
}

/* All of it at once, or a single page where they differ. */
static bool open_module(struct scan *scan, uint64_t at)
{
	bool is_whole = is_uniform(&scan->module);
	uint64_t page = ALIGN_DOWN(at, libc.page_size);

	close_module(scan);
	scan->open = is_whole ? scan->module.relro : page;
	scan->open_end = is_whole ? scan->module.relro_end : page + libc.page_size;
	if (protect(scan->open, scan->open_end, PROT_READ | PROT_WRITE))
		return true;
	scan->open = scan->open_end = 0;
	return false;
}

/* May the word be stored to?  Makes read-only data of the module writable until close_module(). */
static bool open_word(struct scan *scan, uint64_t *at)
{
	if (!is_relro(&scan->module, at))
		return word_is_writable(at);
	if ((uint64_t)at - scan->open < scan->open_end - scan->open)
		return true;
	if (!word_is_writable(at))
		return open_module(scan, (uint64_t)at);
	if (scan->known->open_scans >= OPEN_SCANS)
		return true;
	/* The loader is not done with it. */
	scan->known->open_scans++;
	scan->is_skipped = scan->report->is_unsettled = true;
	scan->is_clean = false;
	return false;
}

/* What was linked against libc says so in its version, whoever has put himself in between since. */
static bool is_libcs(const struct code_range *range, const char *version)
{
	return (version && pattern_matches("GLIBC_*", 7, version)) ||
	       pattern_matches("libc.so*", 8, range->name) ||
	       pattern_matches("libc-*", 6, range->name) ||
	       pattern_matches("libpthread*", 11, range->name);
}

/* A hook for it that is switched on, or NULL. */
static struct hook *make_hook(const struct binding *to, const struct traced *traced,
			      const struct code_range *range)
{
	struct function_name name = { traced->name ? traced->name : to->name, range->name };
	struct hook *hook = hook_get(to->original, traced, &name);

	return hook && (traced->way == HOOK_NOTICE || hook_announce(hook, &name)) ? hook : NULL;
}

/* Hooks one word, which holds `value`, so that it leads to what it is bound to by way of us. */
static void hook_word(struct scan *scan, uint64_t *at, uint64_t value, const struct binding *to)
{
	const struct code_range *range = range_of(to->original);
	const struct traced *traced =
		range ? wants_find(to->name, range->name, is_libcs(range, to->version)) : NULL;
	struct hook *hook;
	int r;

	if (!traced || is_covered(range->key, traced->domain))
		return;
	hook = make_hook(to, traced, range);
	if (!hook) {
		scan->report->refused++;
		return;
	}
	if (!open_word(scan, at)) {
		scan->report->unwritable += !scan->is_skipped;
		return;
	}
	r = word_change(&(struct word){ at, value, hook_stub(hook), scan->module.key });
	scan->report->refused += r == -ENOSPC;
	scan->report->is_unsettled |= r == -EAGAIN;
	scan->report->hooked += !r;
	scan->is_clean = false;
	if (traced->way != HOOK_NOTICE)
		scan->report->domains |= 1u << traced->domain;
}

/* No address of code: data, not relocated yet, or a weak import that nobody provides. */
static bool is_unsettled(const struct scan *scan, const struct import *import, uint64_t value)
{
	if (value)
		return value < scan->module.data_end - scan->module.bias;
	return ELF64_ST_BIND(import->symbol->st_info) != STB_WEAK;
}

static void consider(struct scan *scan, const struct import *import)
{
	uint64_t value = __atomic_load_n(import->at, __ATOMIC_RELAXED);
	const struct code_range *range = range_of(value);

	if (hook_is_stub(value))
		return;
	if (!range) {
		if (is_unsettled(scan, import, value)) {
			scan->report->is_unsettled = true;
			scan->is_clean = false;
		}
		return;
	}
	if (is_unbound(scan, import, range, value))
		note_unbound(scan, import, value, 0);
	else if (range->key == program.key && is_jump_of_program(import, value))
		return;
	else if (may_be_data(import))
		note_unbound(scan, import, value, value);
	else
		hook_word(scan, import->at, value,
			  &(struct binding){ value, import->name,
					     module_version(&scan->module, import->index) });
}

static bool read_import(const struct loaded_module *module, const Elf64_Rela *item,
			struct import *ret)
{
	unsigned type = (unsigned)ELF64_R_TYPE(item->r_info), kind;

	if (type != RELOC_CALL && type != RELOC_ADDRESS && (type != RELOC_WORD || item->r_addend))
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

static struct known_module *find_known(uint64_t key)
{
	for (uint32_t i = 0; i < known_count; i++)
		if (tables->known[i].key == key)
			return &tables->known[i];
	return NULL;
}

/* NULL when there is no room for it, or nothing more to be done in it. */
static struct known_module *know(uint64_t key)
{
	struct known_module *known = find_known(key);

	if (!known) {
		if (known_count == KNOWN_MAX)
			return NULL;
		known = &tables->known[known_count++];
		*known = (struct known_module){ .key = key };
	}
	if (known->waits || known->clean_scans < (known->had_unbound ? CLEAN_SCANS : 1))
		return known;
	return NULL;
}

/*
 * A module that was unloaded may have come again, or another in its place, with none of our words.
 * As long as nothing was unloaded, words that are not as we left them are somebody else's work.
 */
static void forget_if_reloaded(const struct loaded_module *module, unsigned long long subs)
{
	if (subs + 1 != subs_first && words_has(module->key) &&
	    !words_held(module->key, module->data, module->data_end))
		words_forget(module->key);
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
				consider(scan, &import);
}

static int scan_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct scan *scan = context;

	(void)size;
	if (!module_read(info, libc.page_size, &scan->module) || is_excluded(&scan->module))
		return 0;
	scan->known = know(scan->module.key);
	if (!scan->known)
		return 0;
	forget_if_reloaded(&scan->module, info->dlpi_subs);
	scan->is_skipped = false;
	scan->is_clean = true;
	scan->known->waits = false;
	scan_imports(scan);
	close_module(scan);
	scan->known->clean_scans = scan->is_clean ? scan->known->clean_scans + 1 : 0;
	scan->report->is_unsettled |= know(scan->module.key) != NULL;
	return 0;
}

static void *look_in(void *scope, const struct unbound *entry)
{
	void *found = NULL;

	if (entry->version[0] && libc.symbol_of_version)
		found = libc.symbol_of_version(scope, entry->symbol, entry->version);
	return found ? found : libc.symbol(scope, entry->symbol);
}

/* The module itself and what it needs.  Only dlopen gives a handle that can be searched. */
static void *look_in_module(const struct unbound *entry)
{
	Dl_info module;
	void *handle, *found;

	if (!libc.find_module || !libc.find_module((const void *)entry->key, &module))
		return NULL;
	handle = libc.open(module.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	found = look_in(handle, entry);
	libc.close(handle);
	return found;
}

/* Has everybody the symbols of the module?  Then it was not loaded so that its own come first. */
static bool is_global(const struct known_module *known)
{
	return known->key == program.key ||
	       (known->export_address &&
		(uint64_t)libc.symbol(RTLD_DEFAULT, known->export) == known->export_address);
}

/*
 * What the loader would bind it to: the first of that name in the program's scope, else in the
 * module's own; the other way round for a module that was loaded with RTLD_DEEPBIND, which nobody
 * tells.  0 where that makes a difference: the loader will bind it.
 */
static uint64_t look_up(const struct unbound *entry)
{
	struct known_module *known = find_known(entry->key);
	void *found = look_in(RTLD_DEFAULT, entry), *own;

	if (found && known && is_global(known))
		return (uint64_t)found;
	own = look_in_module(entry);
	if (!found || !own || found == own)
		return (uint64_t)(found ? found : own);
	if (known)
		known->waits = true;
	return 0;
}

static int hook_unbound(struct dl_phdr_info *info, size_t size, void *context)
{
	struct scan *scan = context;

	(void)size;
	if (!module_read(info, libc.page_size, &scan->module))
		return 0;
	scan->known = know(scan->module.key);
	if (!scan->known)
		return 0;
	forget_if_reloaded(&scan->module, info->dlpi_subs);
	scan->is_clean = true;
	for (uint32_t i = 0; i < scan->unbound_count; i++) {
		const struct unbound *entry = &tables->unbound[i];

		if (entry->key == scan->module.key && entry->bias == scan->module.bias &&
		    entry->original && !hook_is_stub(entry->original))
			hook_word(scan, entry->at, entry->value,
				  &(struct binding){ entry->original, entry->symbol,
						     entry->version });
	}
	close_module(scan);
	if (!scan->is_clean)
		scan->known->clean_scans = 0;
	return 0;
}

static bool is_function(uint64_t address)
{
	void *symbol = NULL;
	Dl_info module;

	return libc.find_symbol &&
	       libc.find_symbol((const void *)address, &module, &symbol, RTLD_DL_SYMENT) &&
	       symbol && ELF64_ST_TYPE(((const Elf64_Sym *)symbol)->st_info) != STT_OBJECT;
}

static uint64_t find_original(const struct unbound *entry)
{
	if (!entry->original)
		return look_up(entry);
	return is_function(entry->original) ? entry->original : 0;
}

void got_scan(struct got_report *ret)
{
	struct scan scan = { .report = ret };

	*ret = (struct got_report){ 0 };
	range_count = 0;
	libc.iterate(note_ranges, NULL);
	libc.iterate(scan_module, &scan);
	for (uint32_t i = 0; i < scan.unbound_count; i++)
		tables->unbound[i].original = find_original(&tables->unbound[i]);
	if (scan.unbound_count)
		libc.iterate(hook_unbound, &scan);
	for (uint32_t i = 0; i < known_count; i++)
		ret->is_unsettled |= tables->known[i].waits;
}

static int compare_counts(struct dl_phdr_info *info, size_t size, void *has_changed)
{
	(void)size;
	*(bool *)has_changed = info->dlpi_adds != adds_seen || info->dlpi_subs != subs_seen;
	return 1;
}

bool got_has_changed(void)
{
	bool has_changed = false;

	libc.iterate(compare_counts, &has_changed);
	return has_changed;
}

const struct got_libc *got_functions(void)
{
	return &libc;
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
	if (module_read(info, libc.page_size, &module) && !is_excluded(&module))
		visiting->visit(info->dlpi_name, &module, visiting->context);
	return 0;
}

void got_each_module(got_visit *visit, void *context)
{
	libc.iterate(visit_module, &(struct visiting){ visit, context });
}

/* Read-only data is opened only where a word of ours is in it: the loader may be at work on a
 * module that has come to the place of another. */
static void restore_range(uint64_t key, uint64_t start, uint64_t end, struct words_left *left)
{
	bool is_open = words_held(key, start, end) && !word_is_writable((uint64_t *)start) &&
		       protect(start, end, PROT_READ | PROT_WRITE);

	words_restore(key, start, end, left);
	if (is_open)
		protect(start, end, PROT_READ);
}

static int restore_module(struct dl_phdr_info *info, size_t size, void *left)
{
	struct loaded_module module;
	uint64_t step;

	(void)size;
	if (!module_read(info, libc.page_size, &module))
		return 0;
	forget_if_reloaded(&module, info->dlpi_subs);
	if (!words_has(module.key))
		return 0;
	step = is_uniform(&module) ? module.relro_end - module.relro : libc.page_size;
	for (uint64_t at = module.relro; at < module.relro_end; at += step)
		restore_range(module.key, at, at + step, left);
	words_restore(module.key, 0, UINT64_MAX, left);
	return 0;
}

void got_restore(struct words_left *left)
{
	if (tables)
		libc.iterate(restore_module, left);
}
