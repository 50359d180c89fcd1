/*
 * Finds what an unwind table is made from.  Host only.
 */
#include "host/unwind/source.h"

#include <errno.h>

#include "host/unwind/fingerprint.h"
#include "host/unwind/stubs.h"

static int find_part(const struct object *object, struct unwind_source *ret)
{
	ret->section = FRAMES_EH;
	if (!object_section(object, ".eh_frame", &ret->part) && ret->part.size > sizeof(uint32_t))
		return 0;
	if (!object_unwind_segment(object, &ret->part))
		return 0;
	ret->section = FRAMES_DEBUG;
	return object_section(object, ".debug_frame", &ret->part);
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
	if (find_part(object, ret) < 0 && !ret->machine->code)
		return err_set(err, -ENODATA, "no unwind information (.eh_frame, .debug_frame)");
	ret->stubs = stubs_find(object);
	return 0;
}

uint64_t unwind_source_fingerprint(const struct unwind_source *source)
{
	const uint64_t facts[] = {
		source->machine->elf_machine,  source->first,     source->end,
		source->part.address,          source->part.size, source->section,
		source->object.header.e_shnum,
	};

	return fingerprint(fingerprint(FINGERPRINT_BEGIN, facts, sizeof(facts)), source->part.bytes,
			   source->part.size);
}
