/*
 * Where functions of aarch64 begin: at symbols, at the beginning of sections, at the targets of
 * calls.  A word of data that resembles a call yields a wrong address: code.c then finds two frames
 * that do not agree, and makes no rule.
 */
#include "host/unwind/arch/aarch64/begins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/unwind/arch/aarch64/instruction.h"

static bool bits_have(const struct code_begins *begins, const unsigned char *bits, uint64_t address)
{
	uint64_t number = (address - begins->first) / WORD;

	return bits && address >= begins->first && number < begins->count &&
	       bits[number / 8] >> number % 8 & 1;
}

bool begins_has_name(const struct code_begins *begins, uint64_t address)
{
	return bits_have(begins, begins->named, address);
}

bool begins_has(const struct code_begins *begins, uint64_t address)
{
	return begins_has_name(begins, address) || bits_have(begins, begins->called, address);
}

static void bits_add(const struct code_begins *begins, unsigned char *bits, uint64_t address)
{
	uint64_t number = (address - begins->first) / WORD;

	if (address >= begins->first && number < begins->count && address % WORD == 0)
		bits[number / 8] |= (unsigned char)(1 << number % 8);
}

static void add_symbols(struct code_begins *begins, const struct object *object, const char *name)
{
	struct object_part part;
	Elf64_Sym symbol;

	if (object_section(object, name, &part) < 0)
		return;
	for (uint64_t at = 0; part.size - at >= sizeof(symbol); at += sizeof(symbol)) {
		memcpy(&symbol, part.bytes + at, sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
			bits_add(begins, begins->named, symbol.st_value);
	}
}

size_t calls_each(const struct object_part *piece, size_t margin, call_visitor *visit,
		  void *context)
{
	uint64_t at = 0;

	for (; at + WORD <= piece->size && at + margin < piece->size; at += WORD) {
		int64_t offset;
		uint32_t word;

		memcpy(&word, piece->bytes + at, sizeof(word));
		if (instruction_flow(word, &offset) == FLOW_CALL && offset)
			visit(context, piece->address + at + (uint64_t)offset);
	}
	return at;
}

static void add_called(void *context, uint64_t target)
{
	struct code_begins *begins = context;

	bits_add(begins, begins->called, target);
}

static void add_calls_of_all(struct code_begins *begins, const struct object *object)
{
	for (unsigned i = 0; i < object->segment_count; i++) {
		uint64_t first, end;
		struct object_part part;

		if (!object_code_of(object, &object->segments[i], &first, &end) ||
		    object_at(object, first, &part))
			continue;
		part.size = MIN(part.size, end - first);
		calls_each(&part, /* margin */ 0, add_called, begins);
	}
}

/* Sections with code that no compiler made. */
static const char *const sections[] = { ".init", ".plt", ".plt.got", ".iplt", ".text", ".fini" };

int begins_find(const struct object *object, struct code_begins *ret)
{
	uint64_t end;
	struct object_part part;

	*ret = (struct code_begins){ 0 };
	if (!object_code(object, &ret->first, &end) || (end - ret->first) / WORD > CODE_WORDS_MAX)
		return 0;
	ret->first = ALIGN_DOWN(ret->first, WORD);
	ret->count = (end - ret->first) / WORD;
	ret->named = calloc(1, ret->count / 8 + 1);
	ret->called = calloc(1, ret->count / 8 + 1);
	if (!ret->named || !ret->called)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!object_section(object, sections[i], &part))
			bits_add(ret, ret->named, part.address);
	add_symbols(ret, object, ".symtab");
	add_symbols(ret, object, ".dynsym");
	add_calls_of_all(ret, object);
	return 0;
}
