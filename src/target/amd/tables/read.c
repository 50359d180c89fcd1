/*
 * Where a library was unmapped, another mapping may be by now: nothing is read that lies outside of
 * a loaded module's variables.
 */
#include "target/amd/tables/read.h"

#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

#define ENTRIES_MAX    2048u
#define HSA_HEAD_WORDS 2u

struct call_slot call_slots[CALL_SLOTS];

struct module_search {
	uint64_t start, end;
	uint32_t flags;
	struct module_range *found;
	bool is_found;
};

static int module_search(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module_search *search = data;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum && !search->is_found; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || !(part->p_flags & search->flags) ||
		    search->start < start || search->end > start + part->p_memsz)
			continue;
		*search->found =
			(struct module_range){ start, start + part->p_memsz, part->p_flags };
		search->is_found = true;
	}
	return search->is_found;
}

bool module_has(struct module_range *range, uint64_t address, uint64_t size, uint32_t flags)
{
	struct module_search search = { address, address + size, flags, range, false };

	if (range->flags & flags && address >= range->start && address + size <= range->end)
		return true;
	libc_iterate(module_search, &search);
	return search.is_found;
}

static bool is_data(uint64_t address, uint64_t size)
{
	struct module_range range = { 0 };

	return address % sizeof(uint64_t) == 0 && module_has(&range, address, size, PF_W);
}

/* The entries behind the head of a table whose size is in bits `shift` and up of its first word. */
static unsigned entries_read(uint64_t address, unsigned head_words, unsigned shift, uint64_t **ret)
{
	uint64_t words;

	if (!is_data(address, sizeof(uint64_t)))
		return 0;
	words = (*(const uint64_t *)address >> shift) / sizeof(uint64_t);
	if (words <= head_words || words - head_words > ENTRIES_MAX ||
	    !is_data(address, words * sizeof(uint64_t)))
		return 0;
	*ret = (uint64_t *)address + head_words;
	return (unsigned)(words - head_words);
}

/* {u32 major, u32 size in bytes, u32 step, u32 reserved, entries} */
static unsigned versioned_read(uint64_t address, uint64_t **ret)
{
	return entries_read(address, HSA_HEAD_WORDS, 32, ret);
}

unsigned table_read_part(const struct agent_table *hsa, unsigned part, uint64_t **ret)
{
	uint64_t *root;
	unsigned count = versioned_read(hsa->parts[0], &root);

	return part < count && root[part] ? versioned_read(root[part], ret) : 0;
}

unsigned table_read(const struct agent_table *known, const struct api_table *table, uint64_t **ret)
{
	if (!text_equal(table->registered, known->name))
		return 0;
	if (table->is_of_hsa)
		return table_read_part(known, table->part, ret);
	/* {u64 size in bytes, entries} */
	return table->part < known->part_count ? entries_read(known->parts[table->part], 1, 0, ret)
					       : 0;
}

uint64_t entry_original(const uint64_t *entry)
{
	uint64_t value = __atomic_load_n(entry, __ATOMIC_RELAXED);
	const struct call_slot *slot = call_slot_of(value);

	return slot ? slot->original : value;
}

uint64_t table_find_function(const struct agent_table *known, enum api_table_number number,
			     const char *name)
{
	const struct api_table *table = &api_tables[number];
	uint64_t *entries;
	unsigned count = table_read(known, table, &entries), at = api_function(table, name);

	if (at >= MIN(count, (unsigned)table->named) || (table->may_differ && count > table->named))
		return 0;
	return entry_original(&entries[at]);
}
