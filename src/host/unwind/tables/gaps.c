/*
 * Finds the code between entries.
 */
#include "host/unwind/tables/entries.h"

#include "host/unwind/tables/image.h"

static int add_gap(struct frames *frames, uint64_t start, uint64_t end, unsigned step)
{
	start = ALIGN_UP(start, step);
	if (end <= start || end - start < step)
		return 0;
	return frames_append(
		frames, &(struct frame_entry){ .start = start, .end = end, .kind = ENTRY_GAP }, 1);
}

/* Between the first `count` entries, which ascend. */
static int add_gaps_of(struct frames *frames, size_t count, uint64_t start, uint64_t end,
		       unsigned step)
{
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		const struct frame_entry entry = frames->entries[i];

		if (entry.end <= start)
			continue;
		if (entry.start >= end)
			break;
		if (entry.start > start)
			r = add_gap(frames, start, entry.start, step);
		/* A signal handler's thread stands behind the trampoline while it is in its system
		 * call. */
		start = entry.end + (entry.kind == ENTRY_PROGRAM &&
				     frames->commons[entry.common].is_signal &&
				     entry.end < UINT64_MAX);
	}
	return r < 0 || start >= end ? r : add_gap(frames, start, end, step);
}

int gaps_add(struct frames *frames, const struct object *object, unsigned step)
{
	size_t count = frames->count;
	int r = 0;

	for (unsigned i = 0; !r && i < object->segment_count; i++) {
		const Elf64_Phdr *segment = &object->segments[i];
		uint64_t start, end;

		if (segment->p_filesz <= IMAGE_PART_MAX &&
		    object_code_of(object, segment, &start, &end) && end <= UINT64_MAX - step)
			r = add_gaps_of(frames, count, start, end, step);
	}
	frames_sort(frames);
	return r;
}
