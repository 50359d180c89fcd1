/*
 * NVTX 3 as a header: its calls are inlined in the application's modules and go through pointers in
 * a structure of each module, which is not exported. The structure is found by its shape: behind
 * the pointers lie lists of their addresses, of which 64 must match. The first NVTX call of a
 * module sets the pointers once, to NULL if no tool is named in the environment. So the pointers of
 * an initialized structure can be hooked for good, and are restored to NULL. An uninitialized
 * structure is left unchanged: its pointers lead to functions that would call the hook again,
 * endlessly.
 *
 * Called on limpet's threads, one at a time.
 */
#include "target/domains/cpu/nvtx.h"

#include "target/domains/cpu/cpu.h"
#include "target/hooks/module.h"
#include "target/hooks/table.h"
#include "target/runtime/readable.h"
#include "target/runtime/text.h"

#define PAGE_BYTES   4096u
#define TABLES_MAX   256u
#define LIBRARY_ROOM 96u

/* Indices of 8-byte words in the structure. Pointers: core, CUDA, OpenCL, CUDA's runtime, core of
 * version 2, synchronisation; then a list of each, with a zero before and behind. */
enum {
	STATE = 0, /* 32 bits */
	CALLBACKS_SIZE = 1,
	VERSION_SIZE = 3,
	POINTERS = 6,
};
static const unsigned char groups[] = { 15, 8, 14, 6, 15, 6 };
enum { POINTER_COUNT = 64, LISTS = POINTERS + POINTER_COUNT };
#define GLOBALS_WORDS (LISTS + POINTER_COUNT + 2 * ARRAY_SIZE(groups))

enum { BEGUN = 2 }; /* value of the state: initialized */
enum { CALLBACKS_BYTES = 16, VERSION_BYTES = 24 };

/* The pointers of nvtx_calls: those without a domain are the first ones of the core, those with one
 * the first ones of its version 2, which the table has later. */
#define CALLS_WITHOUT_DOMAIN 11
enum { DOMAIN_POINTERS = 43 };

static struct nvtx_table {
	uint64_t *words;
	uint64_t module; /* its key */
	bool is_hooked;
	char library[LIBRARY_ROOM];
} tables[TABLES_MAX];
static unsigned table_count;
static bool are_wanted;

/* The results of NVTX calls without a tool: "level unknown", or 0. */
static uint64_t nvtx_level_unknown(void)
{
	return (uint64_t)-2;
}

static uint64_t nvtx_nothing(void)
{
	return 0;
}

typedef uint64_t nvtx_function(void);

static nvtx_function *result_without_tool(const struct traced *traced)
{
	bool is_leveled = traced->value_count && traced->values[0].kind == VALUE_RESULT;

	return is_leveled ? nvtx_level_unknown : nvtx_nothing;
}

/* Each list names the pointers of its group, one after the other. */
static bool lists_are_right(const uint64_t *words)
{
	const uint64_t *pointer = words + POINTERS, *list = words + LISTS;

	for (unsigned group = 0; group < ARRAY_SIZE(groups); group++) {
		if (*list++)
			return false;
		for (unsigned i = 0; i < groups[group]; i++)
			if (*list++ != (uint64_t)pointer++)
				return false;
		if (*list++)
			return false;
	}
	return true;
}

static bool nvtx_is_table(const uint64_t *words)
{
	return words[CALLBACKS_SIZE] == CALLBACKS_BYTES && words[VERSION_SIZE] == VERSION_BYTES &&
	       lists_are_right(words);
}

static void table_note(uint64_t *words, const struct loaded_module *module)
{
	struct nvtx_table *table = &tables[table_count];

	for (unsigned i = 0; i < table_count; i++)
		if (tables[i].words == words)
			return;
	if (table_count == TABLES_MAX)
		return;
	*table = (struct nvtx_table){ words, module->key, false, "" };
	text_add(table->library, sizeof(table->library), 0,
		 module->name[0] ? module->name : "the program");
	table_count++;
}

/* The target may have unmapped pages that the loader mapped. */
static bool range_is_there(uint64_t start, uint64_t end)
{
	for (uint64_t page = ALIGN_DOWN(start, (uint64_t)PAGE_BYTES); page < end;
	     page += PAGE_BYTES)
		if (!is_readable(page))
			return false;
	return true;
}

/* Searches for the first list's first entry, which points to the first pointer. */
static void search_range(uint64_t start, uint64_t end, const struct loaded_module *module)
{
	const uint64_t entry_at = (LISTS + 1) * sizeof(uint64_t);
	const uint64_t back = entry_at - POINTERS * sizeof(uint64_t);
	uint64_t size = GLOBALS_WORDS * sizeof(uint64_t);

	for (uint64_t at = start; at + size <= end; at += sizeof(uint64_t))
		if (*(const uint64_t *)(at + entry_at) == at + entry_at - back &&
		    nvtx_is_table((const uint64_t *)at))
			table_note((uint64_t *)at, module);
}

/* Searches only data from the file: a structure in .bss is zeroed and has no lists. Skips RELRO,
 * large in large libraries, because the loader's lock is held meanwhile. */
static void search_module(const char *path, const struct loaded_module *module, void *context)
{
	(void)path;
	(void)context;
	for (size_t i = 0; i < module->header_count; i++) {
		const Elf64_Phdr *header = &module->headers[i];
		uint64_t start =
			ALIGN_UP(module->bias + header->p_vaddr, (uint64_t)sizeof(uint64_t));
		uint64_t end = module->bias + header->p_vaddr + header->p_filesz;

		if (start >= module->relro && start < module->relro_end)
			start = module->relro_end;
		if (header->p_type == PT_LOAD && header->p_flags & PF_W && start < end &&
		    range_is_there(start, end))
			search_range(start, end, module);
	}
}

static unsigned pointer_of(unsigned call)
{
	return call < CALLS_WITHOUT_DOMAIN ? call : DOMAIN_POINTERS + call - CALLS_WITHOUT_DOMAIN;
}

static void table_hook_all(struct nvtx_table *table, struct hooks_report *report)
{
	for (unsigned i = 0; i < NVTX_CALLS; i++) {
		const struct traced *traced = &nvtx_calls[i];
		struct function_name name = { traced->symbol, table->library };

		table_report(table_hook_empty(table->words + POINTERS + pointer_of(i),
					      (uint64_t)result_without_tool(traced), traced, &name),
			     report);
	}
	table->is_hooked = true;
	report->domains |= DOMAIN_BIT(MARKER);
}

/* The loader's lock is held, so the module cannot be unmapped before this returns. */
static void module_hook(const char *path, const struct loaded_module *module, void *context)
{
	struct hooks_report *report = context;

	(void)path;
	for (unsigned i = 0; i < table_count; i++) {
		struct nvtx_table *table = &tables[i];
		uint64_t start = (uint64_t)table->words;

		if (table->is_hooked || table->module != module->key ||
		    !range_is_there(start, start + GLOBALS_WORDS * sizeof(uint64_t)) ||
		    !nvtx_is_table(table->words))
			continue;
		/* Acquire: pairs with the store at the end of the module's own initialization. */
		if (__atomic_load_n((const uint32_t *)table->words + STATE, __ATOMIC_ACQUIRE) !=
		    BEGUN)
			continue;
		table_hook_all(table, report);
		if (module_exports(module, nvtx_calls[0].symbol))
			got_cover(start, DOMAIN_MARKER);
	}
}

static bool tables_are_pending(void)
{
	for (unsigned i = 0; i < table_count; i++)
		if (!tables[i].is_hooked)
			return true;
	return false;
}

void nvtx_tables_begin(bool is_wanted)
{
	are_wanted = is_wanted;
	table_count = 0;
}

void nvtx_tables_scan(bool have_modules_changed, struct hooks_report *report)
{
	if (!are_wanted)
		return;
	if (have_modules_changed) {
		table_count = 0;
		got_each_module(search_module, NULL);
	}
	if (tables_are_pending())
		got_each_module(module_hook, report);
}
