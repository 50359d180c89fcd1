/*
 * Finds the parts that an unwind table is made from.
 */
#include "host/unwind/tables/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/unwind/arch/code.h"
#include "host/unwind/elf/object.h"
#include "host/unwind/tables/entries.h"

static void find_parts(const struct object *object, struct unwind_source *ret)
{
	struct object_part *eh = &ret->parts[FRAMES_EH], *debug = &ret->parts[FRAMES_DEBUG];

	if ((object_section(object, ".eh_frame", eh) || eh->size <= sizeof(uint32_t)) &&
	    object_unwind_segment(object, eh))
		*eh = (struct object_part){ 0 };
	if (object_unpack(object, ".debug_frame", debug, &ret->unpacked))
		*debug = (struct object_part){ 0 };
}

int unwind_source_open(struct unwind_source *ret, const void *bytes, size_t size, struct err *err)
{
	const struct object *object = &ret->object;

	*ret = (struct unwind_source){ 0 };
	if (object_open(&ret->object, bytes, size) < 0)
		return err_set(err, -ENOEXEC, "not an ELF file of 64 bits");
	ret->machine = unwind_machine_of(object->header.e_machine);
	if (!ret->machine)
		return err_set(err, -ENOEXEC, "ELF file of another machine (%u)",
			       object->header.e_machine);
	if (!object_code(object, &ret->first, &ret->end) || ret->end - ret->first >= UINT32_MAX)
		return err_set(err, -ENOEXEC, "no code in it, or more than 4 GiB");
	ret->has_go = go_code_open(&ret->go, object);
	find_parts(object, ret);
	ret->stubs = stubs_find(object);
	return 0;
}

void unwind_source_close(struct unwind_source *source)
{
	free(source->unpacked);
	source->unpacked = NULL;
}

/* Eight bytes a step: multiplies, then mixes the high bits into the low ones. */
static uint64_t word_mix(uint64_t so_far, uint64_t word)
{
	so_far = (so_far ^ word) * 0xff51afd7ed558ccdu;
	return so_far ^ so_far >> 32;
}

uint64_t fingerprint(uint64_t so_far, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t word;

	so_far = word_mix(so_far, size);
	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		so_far = word_mix(so_far, word);
	}
	word = 0;
	if (size)
		memcpy(&word, at, size);
	return word_mix(so_far, word);
}

uint64_t unwind_source_fingerprint(const struct unwind_source *source)
{
	const uint64_t facts[] = {
		source->machine->elf_machine,
		source->first,
		source->end,
		source->object.header.e_shnum,
		source->has_go ? source->go.table.all.size : 0,
	};
	uint64_t number = fingerprint(FINGERPRINT_BEGIN, facts, sizeof(facts));

	for (unsigned i = 0; i < FRAMES_SECTIONS; i++) {
		const struct object_part *part = &source->parts[i];

		number = fingerprint(number, &part->address, sizeof(part->address));
		number = fingerprint(number, &part->size, sizeof(part->size));
		number = fingerprint(number, part->bytes, part->size);
	}
	return number;
}
