/*
 * Runs on application threads, inside their calls.
 */
#include "target/amd/hsa/tracing/reserving.h"

#include "target/amd/counters/counters.h"
#include "target/amd/counters/kernel_sets.h"
#include "target/amd/counters/leaving.h"
#include "target/amd/hsa/tracing/tracing.h"

/* Indices of call_frame.kept; the first ones are those of packets.c. */
enum { IS_RESERVED = 2, INDEX, DOORBELL = 2, LAST_USE };

static const struct hsa_queue *queue_in(const struct call_frame *frame)
{
	return (const struct hsa_queue *)frame->integers[0];
}

/* (queue, count): reserves a single packet's slot together with limpet's around it, if possible. */
void ring_before_add(struct call_frame *frame)
{
	const struct hsa_queue *queue = queue_in(frame);
	uint64_t next;

	frame->kept[IS_RESERVED] = false;
	if (!queue || !counters_are_on())
		return;
	next = hsa_calls.load_write(queue);
	if (hsa_queue_learn(queue, next, 0))
		counters_queue_came(queue, next);
	if (frame->integers[1] != 1 || !counters_reserve(queue, &frame->kept[INDEX]))
		return;
	frame->kept[IS_RESERVED] = true;
	/* The original function then reserves nothing, and returns the present index. */
	frame->integers[1] = 0;
}

void ring_after_add(struct call_frame *frame)
{
	const struct hsa_queue *queue = queue_in(frame);
	uint64_t count = frame->integers[1];

	if (frame->kept[IS_RESERVED])
		frame->results[0] = frame->kept[INDEX];
	hsa_after_index(frame, 0);
	if (queue && !frame->kept[IS_RESERVED] && counters_are_on() && count)
		counters_skip(queue, frame->results[0] + count - 1,
			      queue->type ? SKIP_SINGLE
			      : count > 1 ? SKIP_GROUP
					  : SKIP_FULL);
	if (queue && !frame->kept[IS_RESERVED] && count)
		counters_await_room(queue, frame->results[0] + count - 1);
}

/* (queue, expected, value): the application reserves slots itself. */
void ring_after_cas(struct call_frame *frame)
{
	uint64_t last = frame->integers[2] - 1;

	hsa_after_index(frame, 0);
	if (!queue_in(frame) || frame->results[0] != frame->integers[1])
		return;
	if (counters_are_on())
		counters_skip(queue_in(frame), last, SKIP_SINGLE);
	counters_await_room(queue_in(frame), last);
}

/* (queue, value): the application reserves slots itself. */
void ring_before_store_index(struct call_frame *frame)
{
	if (!queue_in(frame))
		return;
	if (counters_are_on())
		counters_skip(queue_in(frame), frame->integers[1] - 1, SKIP_SINGLE);
	counters_await_room(queue_in(frame), frame->integers[1] - 1);
}

/* Also after the end of a session, for limpet's packets in flight. */
void ring_before_queue_destroy(struct call_frame *frame)
{
	frame->kept[DOORBELL] = 0;
	if (!queue_in(frame) || (!hsa_sees_packets() && !leaving_concerns(queue_in(frame))))
		return;
	frame->kept[DOORBELL] = queue_in(frame)->doorbell;
	frame->kept[LAST_USE] = sets_last_use();
	counters_queue_leaves(queue_in(frame));
}

void ring_after_queue_destroy(struct call_frame *frame)
{
	if (frame->kept[DOORBELL] && !call_has_failed(frame))
		leaving_queue_is_gone(
			&(struct queue_gone){ frame->kept[DOORBELL], frame->kept[LAST_USE] });
}
