/*
 * The supported machines; where functions begin, by symbols.
 */
#include "host/unwind/arch/code.h"

#include "host/unwind/arch/go_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX ((uint64_t)1 << 30)

void begins_add(const struct code_begins *begins, unsigned char *bits, unsigned step,
		uint64_t address)
{
	uint64_t number = (address - begins->first) / step;

	if (address >= begins->first && number < begins->count && address % step == 0)
		bits[number / 8] |= (unsigned char)(1 << number % 8);
}

bool begins_have(const struct code_begins *begins, const unsigned char *bits, unsigned step,
		 uint64_t address)
{
	uint64_t number = (address - begins->first) / step;

	return bits && address >= begins->first && number < begins->count &&
	       bits[number / 8] >> number % 8 & 1;
}

int begins_find_names(const struct object *object, unsigned step,
		      bool (*is_function)(const Elf64_Sym *symbol), struct code_begins *ret)
{
	static const char *const sections[] = { ".symtab", ".dynsym" };
	struct object_part part;
	uint64_t end;

	*ret = (struct code_begins){ 0 };
	if (!object_code(object, &ret->first, &end) || (end - ret->first) / step > CODE_MAX / step)
		return 0;
	ret->first = ALIGN_DOWN(ret->first, step);
	ret->count = (end - ret->first) / step;
	ret->named = calloc(1, ret->count / 8 + 1);
	if (!ret->named)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		Elf64_Sym symbol;

		if (object_section(object, sections[i], &part))
			continue;
		for (uint64_t at = 0; part.size - at >= sizeof(symbol); at += sizeof(symbol)) {
			memcpy(&symbol, part.bytes + at, sizeof(symbol));
			if (is_function(&symbol))
				begins_add(ret, ret->named, step, symbol.st_value);
		}
	}
	return 0;
}

static const struct unwind_machine machines[] = {
	{ .elf_machine = EM_X86_64,
	  .sp = 7,
	  .fp = 6,
	  .ra = 16,
	  .thrown = 0,
	  .is_ra_pushed = true,
	  .code = &code_of_x86_64,
	  .go = &go_of_x86_64 },
	{ .elf_machine = EM_AARCH64,
	  .sp = 31,
	  .fp = 29,
	  .ra = 30,
	  .thrown = 0,
	  .is_ra_pushed = false,
	  .code = &code_of_aarch64,
	  .go = &go_of_aarch64 },
};

const struct unwind_machine *unwind_machine_of(unsigned elf_machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].elf_machine == elf_machine)
			return &machines[i];
	return NULL;
}
