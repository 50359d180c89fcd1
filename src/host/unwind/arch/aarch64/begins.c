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
#include "host/unwind/arch/begins.h"

bool begins_has_name(const struct code_begins *begins, uint64_t address)
{
	return begins_have(begins, begins->named, WORD, address);
}

bool begins_has(const struct code_begins *begins, uint64_t address)
{
	return begins_has_name(begins, address) ||
	       begins_have(begins, begins->called, WORD, address);
}

static bool is_function(const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
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

	begins_add(begins, begins->called, WORD, target);
}

/* Sections with code that no compiler made. */
static const char *const sections[] = { ".init", ".plt", ".plt.got", ".iplt", ".text", ".fini" };

int begins_find(const struct object *object, struct code_begins *ret)
{
	int r = begins_find_names(object, WORD, is_function, ret);
	struct object_part part;

	if (r || !ret->named)
		return r;
	ret->called = calloc(1, ret->count / 8 + 1);
	if (!ret->called)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!object_section(object, sections[i], &part))
			begins_add(ret, ret->named, WORD, part.address);
	for (unsigned i = 0; i < object->segment_count; i++) {
		uint64_t first, end;

		if (!object_code_of(object, &object->segments[i], &first, &end) ||
		    object_at(object, first, &part))
			continue;
		part.size = MIN(part.size, end - first);
		calls_each(&part, /* margin */ 0, add_called, ret);
	}
	return 0;
}
