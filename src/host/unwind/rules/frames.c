/*
 * Reads .eh_frame and .debug_frame.  An invalid entry is skipped and counted; an invalid length
 * ends the reading.
 */
#include "host/unwind/rules/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"

#define LONG_LENGTH    0xffffffffu
#define LONG_SIZE      8
#define SHORT_SIZE     4
#define PROGRAM_MAX    256 /* of a CIE: it runs for each entry */
#define DEBUG_ID       0xffffffffu
#define DEBUG_LONG_ID  UINT64_MAX
#define SEGMENTED_FROM 4 /* the version of CIEs with sizes of addresses and segments */

struct walk {
	struct frames *frames;
	const struct object_part *part;
	enum frames_section section;
};

struct unit {
	struct dwarf_bytes rest; /* behind the length */
	uint64_t offset;         /* of the unit in the section */
	unsigned offset_size;
};

static struct dwarf_bytes bytes_from(const struct walk *walk, uint64_t offset)
{
	const struct object_part *part = walk->part;
	uint64_t skip = MIN(offset, part->size);

	if (!part->size) /* and perhaps without an address */
		return (struct dwarf_bytes){ part->bytes, part->bytes, part->address, false };
	return (struct dwarf_bytes){ part->bytes + skip, part->bytes + part->size,
				     part->address + skip, false };
}

/* False at the end, or at an invalid length. */
static bool read_unit(const struct walk *walk, struct dwarf_bytes *bytes, struct unit *ret)
{
	uint64_t length;

	ret->offset = (uint64_t)(bytes->at - walk->part->bytes);
	ret->offset_size = SHORT_SIZE;
	length = dwarf_read_fixed(bytes, SHORT_SIZE);
	if (length == LONG_LENGTH) {
		ret->offset_size = LONG_SIZE;
		length = dwarf_read_fixed(bytes, LONG_SIZE);
	}
	ret->rest = dwarf_read_piece(bytes, length);
	return !bytes->is_broken;
}

static bool is_common(const struct walk *walk, const struct unit *unit, uint64_t id)
{
	if (walk->section == FRAMES_EH)
		return id == 0;
	return id == (unit->offset_size == LONG_SIZE ? DEBUG_LONG_ID : DEBUG_ID);
}

/* One letter of the augmentation; false when it is unknown, so that what follows is, too. */
static bool read_letter(struct frame_common *common, char letter, struct dwarf_bytes *data)
{
	switch (letter) {
	case 'L':
		dwarf_read_fixed(data, 1);
		return true;
	case 'P':
		dwarf_read_pointer(data, (unsigned)dwarf_read_fixed(data, 1) & 0x7f);
		return true;
	case 'R':
		common->pointer_encoding = (unsigned)dwarf_read_fixed(data, 1);
		return true;
	case 'S':
		common->is_signal = true;
		return true;
	default: /* 'B', 'G': flags of aarch64 without data */
		return letter == 'B' || letter == 'G';
	}
}

static bool read_augmentation(struct frame_common *common, const char *letters,
			      struct dwarf_bytes *rest)
{
	struct dwarf_bytes data;

	common->has_size = letters[0] == 'z';
	if (!common->has_size)
		return letters[0] == '\0';
	data = dwarf_read_piece(rest, dwarf_read_unsigned(rest));
	for (letters++; *letters; letters++)
		if (!read_letter(common, *letters, &data))
			return false;
	return !data.is_broken;
}

static bool read_common(const struct walk *walk, struct unit *unit, struct frame_common *ret)
{
	struct dwarf_bytes *rest = &unit->rest;
	unsigned version = (unsigned)dwarf_read_fixed(rest, 1);
	const char *letters = (const char *)rest->at;

	*ret = (struct frame_common){ .offset = unit->offset };
	if (!memchr(rest->at, '\0', (size_t)(rest->end - rest->at)))
		return false;
	dwarf_read_piece(rest, strlen(letters) + 1);
	if (walk->section == FRAMES_DEBUG && version >= SEGMENTED_FROM &&
	    dwarf_read_fixed(rest, 2) != sizeof(uint64_t))
		return false;
	ret->code_step = dwarf_read_unsigned(rest);
	ret->data_step = dwarf_read_signed(rest);
	ret->return_register =
		(unsigned)(version == 1 ? dwarf_read_fixed(rest, 1) : dwarf_read_unsigned(rest));
	if (!read_augmentation(ret, letters, rest) || rest->is_broken)
		return false;
	ret->program = *rest;
	return ret->program.end - ret->program.at <= PROGRAM_MAX;
}

static int add_common(struct walk *walk, uint64_t offset, uint32_t *ret)
{
	struct frames *frames = walk->frames;
	struct dwarf_bytes bytes = bytes_from(walk, offset);
	struct unit unit;
	int r;

	if (!read_unit(walk, &bytes, &unit) ||
	    !is_common(walk, &unit, dwarf_read_fixed(&unit.rest, unit.offset_size)))
		return -EBADMSG;
	r = make_room(&frames->commons, frames->common_count, &frames->common_room,
		      sizeof(*frames->commons));
	if (r < 0)
		return r;
	if (!read_common(walk, &unit, &frames->commons[frames->common_count]))
		return -EBADMSG;
	*ret = (uint32_t)frames->common_count++;
	return 0;
}

/* Entries follow their CIE, so it is nearly always the last one. */
static int common_at(struct walk *walk, uint64_t offset, uint32_t *ret)
{
	const struct frames *frames = walk->frames;

	for (size_t i = frames->common_count, tries = 0; i-- > 0 && tries < 16; tries++) {
		if (frames->commons[i].offset != offset)
			continue;
		*ret = (uint32_t)i;
		return 0;
	}
	return add_common(walk, offset, ret);
}

static int read_entry(struct walk *walk, struct unit *unit, uint64_t id, uint64_t id_offset,
		      struct frame_entry *ret)
{
	const struct frame_common *common;
	struct dwarf_bytes *rest = &unit->rest;
	uint64_t offset = walk->section == FRAMES_EH ? id_offset - id : id;
	int r;

	*ret = (struct frame_entry){ 0 };
	r = common_at(walk, offset, &ret->common);
	if (r < 0)
		return r;
	common = &walk->frames->commons[ret->common];
	ret->start = dwarf_read_pointer(rest, common->pointer_encoding);
	ret->end = ret->start + dwarf_read_pointer(rest, common->pointer_encoding & 0x0f);
	if (common->has_size)
		dwarf_read_piece(rest, dwarf_read_unsigned(rest));
	ret->program = *rest;
	return rest->is_broken || ret->end <= ret->start ? -EBADMSG : 0;
}

static int add_entry(struct walk *walk, struct unit *unit)
{
	struct frames *frames = walk->frames;
	uint64_t id_offset = (uint64_t)(unit->rest.at - walk->part->bytes);
	uint64_t id = dwarf_read_fixed(&unit->rest, unit->offset_size);
	int r;

	if (unit->rest.is_broken || is_common(walk, unit, id))
		return 0;
	r = make_room(&frames->entries, frames->count, &frames->room, sizeof(*frames->entries));
	if (r < 0)
		return r;
	r = read_entry(walk, unit, id, id_offset, &frames->entries[frames->count]);
	frames->count += r == 0;
	frames->broken += r == -EBADMSG;
	return r == -EBADMSG ? 0 : r;
}

static int compare_entries(const void *left, const void *right)
{
	const struct frame_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->program.at < b->program.at ? -1 : a->program.at > b->program.at;
}

/* Linkers that fold functions leave two entries for one address: keeps the first. */
static void drop_twins(struct frames *frames)
{
	size_t kept = 0;

	for (size_t i = 0; i < frames->count; i++)
		if (!kept || frames->entries[i].start != frames->entries[kept - 1].start)
			frames->entries[kept++] = frames->entries[i];
	frames->count = kept;
}

int frames_read(struct frames *ret, const struct object_part *part, enum frames_section section)
{
	struct walk walk = { ret, part, section };
	struct dwarf_bytes bytes = bytes_from(&walk, 0);
	struct unit unit;
	int r = 0;

	*ret = (struct frames){ 0 };
	while (!r && read_unit(&walk, &bytes, &unit)) {
		if (unit.rest.at == unit.rest.end && !part->has_size)
			break;
		if (unit.rest.at < unit.rest.end)
			r = add_entry(&walk, &unit);
	}
	if (r < 0) {
		frames_done(ret);
		return r;
	}
	frames_sort(ret);
	return 0;
}

void frames_sort(struct frames *frames)
{
	if (frames->count)
		qsort(frames->entries, frames->count, sizeof(*frames->entries), compare_entries);
	drop_twins(frames);
}

/* Drops the entries that overlap one of others; both ascend. */
static void drop_touched(struct frames *frames, const struct frame_entry *others, size_t count)
{
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < frames->count; i++) {
		const struct frame_entry entry = frames->entries[i];

		while (at < count && others[at].end <= entry.start)
			at++;
		if (at == count || others[at].start >= entry.end)
			frames->entries[kept++] = entry;
	}
	frames->count = kept;
}

int frames_append(struct frames *frames, const struct frame_entry *entries, size_t count)
{
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		r = append_item(&frames->entries, &frames->count, &frames->room, &entries[i],
				sizeof(*entries));
	return r;
}

int frames_merge(struct frames *frames, struct frames *other)
{
	uint32_t first = (uint32_t)frames->common_count;
	int r = 0;

	drop_touched(other, frames->entries, frames->count);
	for (size_t i = 0; i < other->count; i++)
		other->entries[i].common += first;
	for (size_t i = 0; !r && i < other->common_count; i++)
		r = append_item(&frames->commons, &frames->common_count, &frames->common_room,
				&other->commons[i], sizeof(*frames->commons));
	if (!r)
		r = frames_append(frames, other->entries, other->count);
	frames->broken += other->broken;
	frames_sort(frames);
	return r;
}

int frames_add_own(struct frames *frames, const struct frame_entry *own, size_t count)
{
	int r;

	drop_touched(frames, own, count);
	r = frames_append(frames, own, count);
	frames_sort(frames);
	return r;
}

bool frames_cover(const struct frames *frames, uint64_t address)
{
	for (size_t i = 0; i < frames->count; i++)
		if (address >= frames->entries[i].start && address < frames->entries[i].end)
			return true;
	return false;
}

bool frames_are_compilers(const struct frames *frames, uint64_t code_size)
{
	uint64_t covered = 0;

	for (size_t i = 0; i < frames->count; i++)
		if (frames->entries[i].kind == ENTRY_PROGRAM)
			covered +=
				MIN(frames->entries[i].end - frames->entries[i].start, code_size);
	return covered > code_size / 8;
}

void frames_done(struct frames *frames)
{
	free(frames->commons);
	free(frames->entries);
	*frames = (struct frames){ 0 };
}
