/*
 * Maps addresses of code and data to modules. Runs on limpet's threads, one at a time.
 */
#include "target/hooks/got/private.h"

#include "target/hooks/wants.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

#define COVERED_MAX 64u

/* A module whose calls of a domain are hooked elsewhere. */
struct covered_module {
	uint64_t key;
	enum trace_domain domain;
};

/* The loader's counts of loaded and unloaded modules. */
struct module_counts {
	unsigned long long adds, subs;
};

static uint32_t range_count;
static struct loaded_module program;
static struct covered_module covered[COVERED_MAX];
static unsigned covered_count;
static struct module_counts looked, scanned; /* at the last update, and at that of the last scan */
static unsigned long long subs_first;

void got_ranges_reset(void)
{
	looked = scanned = (struct module_counts){ 0 };
	subs_first = 0;
	range_count = covered_count = 0;
}

const struct loaded_module *got_program(void)
{
	return &program;
}

static int note_ranges(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct loaded_module module;

	(void)size;
	(void)unused;
	if (looked.subs != info->dlpi_subs)
		got_forget_known(); /* another module may have the address of an unloaded one */
	looked = (struct module_counts){ info->dlpi_adds, info->dlpi_subs };
	if (!module_read(info, got_page_size(), &module))
		return 0;
	if (!range_count)
		program = module;
	if (!subs_first)
		subs_first = info->dlpi_subs + 1;
	for (size_t i = 0; i < module.header_count && range_count < RANGES_MAX; i++) {
		const Elf64_Phdr *header = &module.headers[i];
		struct code_range *range = &got_tables()->ranges[range_count];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		*range = (struct code_range){ module.bias + header->p_vaddr,
					      header->p_memsz,
					      module.key,
					      module.data,
					      module.data_end,
					      "" };
		text_add(range->name, sizeof(range->name), 0, module.name);
		range_count++;
	}
	return 0;
}

static bool is_in(const struct code_range *range, uint64_t address)
{
	return address - range->start < range->size;
}

/* Most lookups hit the same range as the last one. */
const struct code_range *got_range(uint64_t address)
{
	static uint32_t last;

	if (last < range_count && is_in(&got_tables()->ranges[last], address))
		return &got_tables()->ranges[last];
	for (uint32_t i = 0; i < range_count; i++)
		if (is_in(&got_tables()->ranges[i], address))
			return &got_tables()->ranges[last = i];
	return NULL;
}

static int read_counts(struct dl_phdr_info *info, size_t size, void *counts)
{
	(void)size;
	*(struct module_counts *)counts =
		(struct module_counts){ info->dlpi_adds, info->dlpi_subs };
	return 1;
}

static bool are_now(struct module_counts counts)
{
	struct module_counts now = counts;

	libc_iterate(read_counts, &now);
	return now.adds == counts.adds && now.subs == counts.subs;
}

void got_update_modules(void)
{
	if (range_count && are_now(looked))
		return;
	range_count = 0;
	libc_iterate(note_ranges, NULL);
}

void got_begin_scan(void)
{
	got_update_modules();
	scanned = looked;
}

const char *got_library(uint64_t code)
{
	const struct code_range *range = got_range(code);

	return range ? range->name : "";
}

const char *got_module_name(uint64_t key)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (got_tables()->ranges[i].key == key && got_tables()->ranges[i].name[0])
			return got_tables()->ranges[i].name;
	return "the program";
}

uint64_t got_code(uint64_t code, uint64_t *ret_begin)
{
	const struct code_range *range = got_range(code);

	if (!range)
		return 0;
	*ret_begin = range->start;
	return range->size;
}

bool got_has_module(const char *pattern)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (pattern_matches(pattern, text_length(pattern), got_tables()->ranges[i].name))
			return true;
	return false;
}

bool got_is_covered(uint64_t key, enum trace_domain domain)
{
	for (unsigned i = 0; i < covered_count; i++)
		if (covered[i].key == key && covered[i].domain == domain)
			return true;
	return false;
}

static const struct code_range *range_with_data(uint64_t address)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (address >= got_tables()->ranges[i].data &&
		    address < got_tables()->ranges[i].data_end)
			return &got_tables()->ranges[i];
	return NULL;
}

bool got_has_data(uint64_t address)
{
	return range_with_data(address) != NULL;
}

bool got_has_code(uint64_t address)
{
	return got_range(address) != NULL;
}

void got_cover(uint64_t data, enum trace_domain domain)
{
	const struct code_range *range = range_with_data(data);

	if (!range || covered_count == COVERED_MAX || got_is_covered(range->key, domain))
		return;
	covered[covered_count++] = (struct covered_module){ range->key, domain };
	for (uint32_t i = 0; i < range_count; i++)
		if (got_tables()->ranges[i].key == range->key)
			hooks_mute(domain, got_tables()->ranges[i].start,
				   got_tables()->ranges[i].size);
}

void got_forget_if_reloaded(const struct loaded_module *module, unsigned long long subs)
{
	if (subs + 1 != subs_first && patches_has(module->key) &&
	    !patches_held(module->key, module->data, module->data_end))
		patches_forget(module->key);
}

bool got_has_changed(void)
{
	return !are_now(scanned);
}
