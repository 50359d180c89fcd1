/*
 * Finds where the code of a Go program begins.
 */
#include "host/unwind/rules/go_text.h"

#include <elf.h>
#include <string.h>

static bool find_relocated(const struct go_part *relocations, uint64_t place, uint64_t *ret)
{
	Elf64_Rela relocation;

	for (uint64_t at = 0; relocations->size - at >= sizeof(relocation);
	     at += sizeof(relocation)) {
		memcpy(&relocation, relocations->bytes + at, sizeof(relocation));
		if (relocation.r_offset != place)
			continue;
		*ret = (uint64_t)relocation.r_addend;
		return true;
	}
	return false;
}

/* Linkers need not write a word that a relocation sets. */
static uint64_t read_description(const struct go_places *places, uint64_t at)
{
	const struct go_part *description = &places->description;
	uint64_t address = 0;

	if (at > description->size || sizeof(address) > description->size - at)
		return 0;
	if (!find_relocated(&places->relocations, places->description_at + at, &address))
		memcpy(&address, description->bytes + at, sizeof(address));
	return address;
}

uint64_t go_text_start(const struct go_places *places)
{
	uint64_t start;

	if (find_relocated(&places->relocations, places->table + GO_TEXT_START_AT, &start))
		return start;
	return read_description(places, 0) == places->table
		       ? read_description(places, GO_DESCRIPTION_TEXT)
		       : 0;
}
