/*
 * Runs on the collector's thread.  Frame numbers come from the target and may be made up: the code
 * that turns them into text checks what they refer to.
 */
#include "host/collect/call_stacks.h"

#include <errno.h>
#include <string.h>

#define STACK_TEXT_MAX (1u << 14)
#define PART_MAX       (RECORD_MAX_BYTES - sizeof(struct record_name))

static bool put_part(struct slot *slot, uint64_t id, unsigned part, const char *text, size_t bytes,
		     uint64_t now_ns)
{
	_Alignas(struct record_name) char room[RECORD_MAX_BYTES] = "";
	struct record_name *name = (struct record_name *)room;

	*name = (struct record_name){ { (uint16_t)ALIGN_UP(sizeof(*name) + bytes, RECORD_ALIGNMENT),
					RECORD_NAME, (uint8_t)part },
				      (uint16_t)bytes,
				      NAME_CALL_STACK,
				      id };
	memcpy(name + 1, text, bytes);
	return slot_take(slot, &name->head, now_ns);
}

static int put_text(struct slot *slot, uint64_t id, const char *text, size_t length,
		    uint64_t now_ns)
{
	size_t at = 0;

	for (unsigned part = 0; at < length; part++) {
		size_t bytes = MIN(length - at, PART_MAX);

		if (!put_part(slot, id, part, text + at, bytes, now_ns))
			return -ENOMEM;
		at += bytes;
	}
	return 0;
}

int call_stack_take(const struct collect_stacks *stacks, struct slot *slot,
		    const struct record *record, uint64_t now_ns)
{
	const struct record_name *name = (const struct record_name *)record;
	struct interpreted_frame frames[RECORD_PYTHON_FRAMES_MAX];
	char text[STACK_TEXT_MAX];
	size_t count;
	int r;

	if (record->kind != RECORD_NAME || name->space != NAME_CALL_STACK)
		return 0;
	count = MIN(name->bytes / sizeof(*frames), ARRAY_SIZE(frames));
	if (!stacks->text || record->count)
		return 1;
	memcpy(frames, name + 1, count * sizeof(*frames));
	r = put_text(slot, name->id, text,
		     stacks->text(stacks->context, frames, count, text, sizeof(text)), now_ns);
	return r ? r : 1;
}

void call_stack_answer(const struct collect_stacks *stacks, struct slot *slot, struct rings *rings,
		       struct ring *ring, uint64_t now_ns)
{
	struct python_place place = { 0 };

	if (!stacks->find || now_ns - slot->answered_ns < CALL_STACK_ASK_NS ||
	    !ring_wants_python(ring))
		return;
	slot->answered_ns = now_ns;
	if (!stacks->find(stacks->context, slot->thread.tid, &place))
		return;
	rings->python = *place.layout;
	ring_set_python(ring, place.state, place.identity);
}
