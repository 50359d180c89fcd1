/*
 * Finds the GOT entries that a module uses only for calls, by decoding the module's code. An entry
 * whose value the code also loads is never hooked: the application may store and compare the
 * function's address. Runs on limpet's threads, one at a time, outside of the loader's callbacks,
 * because code may have to be read from a disk.
 */
#include "target/hooks/got/private.h"

#include "shared/arch/word_uses.h"
#include "target/hooks/wants.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/mapping.h"
#include "target/runtime/readable.h"

#define SPAN_MAX   (1u << 24) /* bytes of a GOT; larger ones are not analyzed */
#define ROOM_SPARE (CALL_WORDS_MAX / 4)

static uint32_t word_count;

static uint64_t *slot_of(uint64_t at)
{
	uint32_t first = (uint32_t)(at / sizeof(at) * 0x9e3779b97f4a7c15u >> 40);

	for (;; first++) {
		uint64_t *slot = &got_tables()->call_words[first % CALL_WORDS_MAX];

		if (!*slot || *slot == at)
			return slot;
	}
}

void got_forget_call_words(void)
{
	for (uint32_t i = 0; word_count && i < CALL_WORDS_MAX; i++)
		got_tables()->call_words[i] = 0;
	word_count = 0;
}

/* Without room, the entry counts as one that is also used as a value. */
static void note_word(uint64_t at)
{
	uint64_t *slot = slot_of(at);

	if (*slot || word_count >= CALL_WORDS_MAX - ROOM_SPARE)
		return;
	*slot = at;
	word_count++;
}

bool got_is_call_only(struct scan *scan, const struct import *import)
{
	if (import->type != RELOC_ADDRESS)
		return false;
	if (scan->known->code == CODE_UNREAD)
		scan->known->code = CODE_WANTED;
	return *slot_of((uint64_t)import->at);
}

/* Finds the range of entries that are imported by address. */
static bool find_span(const struct loaded_module *module, struct word_uses *ret)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < module->relocations[1].count; i++) {
		const Elf64_Rela *item = &module->relocations[1].items[i];

		if (ELF64_R_TYPE(item->r_info) != RELOC_ADDRESS)
			continue;
		first = MIN(first, module->bias + item->r_offset);
		last = MAX(last, module->bias + item->r_offset);
	}
	*ret = (struct word_uses){ .first = first };
	if (first > last || first % sizeof(uint64_t) || last - first >= SPAN_MAX)
		return false;
	ret->count = (last - first) / sizeof(uint64_t) + 1;
	return true;
}

/* Execute-only code cannot be analyzed. */
static bool is_code_readable(const struct code_bytes *code)
{
	for (uint64_t at = ALIGN_DOWN(code->address, got_page_size());
	     at < code->address + code->size; at += got_page_size())
		if (!is_readable(at))
			return false;
	return true;
}

static bool read_uses(const struct loaded_module *module, struct word_uses *uses)
{
	for (size_t i = 0; i < module->header_count; i++) {
		const Elf64_Phdr *header = &module->headers[i];
		struct code_bytes code = { .address = module->bias + header->p_vaddr,
					   .size = header->p_filesz };

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		code.bytes = (const uint8_t *)code.address;
		if (!is_code_readable(&code))
			return false;
		word_uses_add(&code, uses);
	}
	return true;
}

static void note_words(const struct loaded_module *module, const struct word_uses *uses)
{
	for (size_t i = 0; i < module->relocations[1].count; i++) {
		const Elf64_Rela *item = &module->relocations[1].items[i];
		const Elf64_Sym *symbol = &module->symbols[ELF64_R_SYM(item->r_info)];
		uint64_t at = module->bias + item->r_offset;

		if (ELF64_R_TYPE(item->r_info) == RELOC_ADDRESS &&
		    wants_symbol(module->strings + symbol->st_name) &&
		    uses->uses[(at - uses->first) / sizeof(at)] == WORD_USE_CALL)
			note_word(at);
	}
}

static void read_module(const struct loaded_module *module)
{
	struct word_uses uses;

	if (!find_span(module, &uses))
		return;
	uses.uses = memory_map(uses.count, 0);
	if (uses.uses && read_uses(module, &uses))
		note_words(module, &uses);
	memory_unmap(uses.uses, uses.count);
}

static int find_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loaded_module *sought = context, found;

	(void)size;
	if (!module_read(info, got_page_size(), &found) || found.key != sought->key)
		return 0;
	*sought = found;
	return 1;
}

/* Holds the module first, then describes it again: another module may have this key by now. */
static void read_held(uint64_t key)
{
	void *handle = got_hold(key);
	struct loaded_module module = { .key = key };

	if (handle && libc_iterate(find_module, &module))
		read_module(&module);
	got_release(handle);
}

bool got_read_code(struct known_module *known, uint32_t count)
{
	bool has_read = false;

	for (uint32_t i = 0; i < count; i++) {
		if (known[i].code != CODE_WANTED)
			continue;
		read_held(known[i].key);
		known[i].code = CODE_READ;
		has_read = true;
	}
	return has_read;
}
