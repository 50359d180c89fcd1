/*
 * Runs on application threads, around their calls.
 */
#include "target/amd/tables/watch.h"

static const struct slot_watch *watches;
static unsigned watch_count;

void watch_use(const struct slot_watch *list, unsigned count)
{
	watches = list;
	watch_count = count;
}

static bool name_matches(const char *pattern, const char *name)
{
	while (*pattern && *pattern == *name)
		pattern++, name++;
	return *pattern == '*' || *pattern == *name;
}

uint8_t watch_find(const char *name)
{
	for (unsigned i = 0; i < watch_count; i++)
		if (name_matches(watches[i].name, name))
			return (uint8_t)(i + 1);
	return 0;
}

const struct slot_watch *watch_of(const struct call_slot *slot)
{
	return slot->watch ? &watches[slot->watch - 1] : NULL;
}

unsigned watch_features(const struct call_slot *slot)
{
	return slot->watch ? watches[slot->watch - 1].features : 0;
}

void watch_before(struct call_frame *frame)
{
	if (frame->watched & WATCHING_CALL && watches[frame->slot->watch - 1].before)
		watches[frame->slot->watch - 1].before(frame);
}

void watch_after(struct call_frame *frame, uint64_t end, bool is_first)
{
	const struct slot_watch *watch = &watches[frame->slot->watch - 1];

	if (frame->watched & WATCHING_CALL && watch->is_first == is_first && watch->after)
		watch->after(frame, end);
}
