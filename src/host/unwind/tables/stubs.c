/*
 * Rules for stubs of x86-64.
 *
 * The first stub pushes a word and jumps to the loader; each other one is
 *
 *	0  ff 25 ....  jmp *SLOT
 *	6  68 ....     push NUMBER
 *	11 e9 ....     jmp FIRST
 *
 * In a program that is linked statically there is no loader: stubs jump to functions of which the C
 * library has one for each kind of processor (memcpy), and no first one is there.
 */
#include "host/unwind/tables/entries.h"

#include <errno.h>
#include <string.h>

#include "host/core/room.h"

#define STUB        16u
#define SHORT_STUB  8u
#define NO_OFFSET   UINT64_MAX /* of no CIE in the section */
#define ENCODING    DWARF_ABSOLUTE
#define RA_REGISTER 16

static const unsigned char push_and_jump[] = { 0xff, 0x35 }, jump[] = { 0xff, 0x25 },
			   landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* CFA = rsp + 8, ra at CFA - 8. */
static const unsigned char common_program[] = { 0x0c, 7, 8, 0x90, 1 };
/* In the first stub CFA = rsp + 16, 6 bytes on rsp + 24; in the others the linker's expression. */
static const unsigned char entry_program[] = {
	0x0e, 16, 0x46, 0x0e, 24,   0x4a, 0x0f, 11,   0x77, 8,
	0x80, 0,  0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22,
};

static bool has_first(const struct object_part *part)
{
	return part->size >= 2 * STUB && part->address % STUB == 0 &&
	       !memcmp(part->bytes, push_and_jump, sizeof(push_and_jump)) &&
	       !memcmp(part->bytes + STUB, jump, sizeof(jump)) && part->bytes[STUB + 6] == 0x68 &&
	       part->bytes[STUB + 11] == 0xe9;
}

static bool are_jumps(const struct object_part *part, size_t step)
{
	if (part->size % step)
		return false;
	for (size_t at = 0; at < part->size; at += step) {
		const unsigned char *stub = part->bytes + at;

		if (step == STUB && !memcmp(stub, landing, sizeof(landing)))
			stub += sizeof(landing);
		if (memcmp(stub, jump, sizeof(jump)) != 0)
			return false;
	}
	return part->size > 0;
}

struct object_part stubs_find(const struct object *object)
{
	static const char *const names[] = { ".plt", ".iplt" };
	struct object_part part;

	/* GNU ld's have 8 bytes, or 16 with endbr64; lld's are as long as others. */
	for (size_t i = 0; object->header.e_machine == EM_X86_64 && i < ARRAY_SIZE(names); i++)
		if (object_section(object, names[i], &part) == 0 &&
		    (has_first(&part) || are_jumps(&part, SHORT_STUB) || are_jumps(&part, STUB)))
			return part;
	return (struct object_part){ 0 };
}

static struct dwarf_bytes program_of(const unsigned char *bytes, size_t size)
{
	return (struct dwarf_bytes){ .at = bytes, .end = bytes + size };
}

int stubs_add(struct frames *frames, const struct object_part *stubs)
{
	struct frame_entry entry = {
		.start = stubs->address,
		.end = stubs->address + stubs->size,
		.common = (uint32_t)frames->common_count,
	};
	bool is_lazy = stubs->size && has_first(stubs);
	int r;

	if (!stubs->size || entry.end < entry.start ||
	    frames_cover(frames, entry.start + (is_lazy ? STUB : 0)))
		return 0;
	entry.program = program_of(entry_program, is_lazy ? sizeof(entry_program) : 0);
	if (make_room(&frames->commons, frames->common_count, &frames->common_room,
		      sizeof(*frames->commons)) < 0)
		return -ENOMEM;
	frames->commons[frames->common_count++] = (struct frame_common){
		.offset = NO_OFFSET,
		.code_step = 1,
		.data_step = -8,
		.pointer_encoding = ENCODING,
		.return_register = RA_REGISTER,
		.program = program_of(common_program, sizeof(common_program)),
	};
	r = frames_append(frames, &entry, 1);
	frames_sort(frames);
	return r;
}
