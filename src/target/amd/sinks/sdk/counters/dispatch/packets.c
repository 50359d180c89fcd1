/*
 * Application calls that use queues. Runs on application threads around these calls: reserves
 * limpet's slots around one packet, and calls the tool when the packet's doorbell is rung.
 */
#include "target/amd/sinks/sdk/counters/dispatch/packets.h"
#include "target/amd/sinks/sdk/counters/dispatch/engine.h"
#include "target/amd/sinks/sdk/counters/dispatch/results.h"
#include "target/runtime/patience.h"

#define INFO_AGENT     0u
#define FEATURES       3u /* bits: packet types that a queue accepts */
#define AGENT_DISPATCH 2u
#define HOST_QUEUES    0x80000000ull /* ids of queues served by the host start here */
#define GLANCE_NS      20000u
#define LAST_NS        20000000ull /* before a queue is destroyed */

/* Indices of call_frame.kept. */
enum { IS_RESERVED, RESERVED };

/* The only counted device; 0: none, or several. */
static uint64_t agent_find_only(void)
{
	uint64_t only = 0;

	for (unsigned i = 0; i < COUNTED_DEVICES; i++) {
		uint64_t agent = __atomic_load_n(&counted_devices[i].agent, __ATOMIC_ACQUIRE);

		if (agent && only)
			return 0;
		only = agent ? agent : only;
	}
	return only;
}

/* A queue served by a thread of the process, which does not know limpet's packets. HSA must not be
 * called for such a queue either. */
static bool queue_is_host(const struct hsa_queue *queue)
{
	return (queue->features & FEATURES) == AGENT_DISPATCH || queue->id & HOST_QUEUES;
}

/* 0: unknown. */
static uint64_t agent_of_queue(const struct hsa_queue *queue)
{
	const struct hsa_functions *hsa = dispatch_runtime_hsa();
	uint64_t agent = 0;

	if (!hsa->queue_info)
		return agent_find_only();
	return hsa->queue_info(queue, INFO_AGENT, &agent) ? 0 : agent;
}

/* Packets already in the queue are uncounted, and may run: a device reads a packet before it
 * executes it. */
static void queue_describe(struct counted_queue *entry, const struct hsa_queue *queue)
{
	const struct hsa_functions *hsa = dispatch_runtime_hsa();
	uint64_t agent, next;

	if (queue_is_host(queue))
		return;
	agent = agent_of_queue(queue);
	entry->is_stranger = !agent;
	entry->device = counted_device_of(agent);
	if (!entry->device)
		return;
	__atomic_fetch_add(&entry->device->queue_count, 1, __ATOMIC_SEQ_CST);
	next = hsa->load_write(queue);
	entry->taken = next;
	if (next)
		dispatch_engine_note_plain(entry, next - 1);
}

static const struct hsa_queue *handle_of(const struct call_frame *frame)
{
	return (const struct hsa_queue *)frame->integers[0];
}

/* NULL: the queue cannot be watched. */
static struct counted_queue *queue_learn(const struct call_frame *frame)
{
	uint64_t lost;
	struct counted_queue *queue = counted_queue_learn(handle_of(frame), queue_describe, &lost);

	counted_sets_lose(lost, dispatch_runtime_hsa());
	if (!queue || queue->is_stranger)
		dispatch_engine_spoil();
	return queue;
}

/* Waits outside the visit if limpet's packets fill the ring. */
static void plain_note(const struct call_frame *frame, uint64_t last)
{
	struct ring_calls calls;
	struct hsa_ring ring = { .queue = NULL };
	struct counted_queue *queue;
	unsigned visit = dispatch_runtime_visit();

	if (!visit)
		return;
	calls = dispatch_runtime_calls();
	queue = queue_learn(frame);
	if (queue) {
		counted_queue_note_taken(queue, last);
		dispatch_engine_note_plain(queue, last);
		ring = queue->ring;
		ring.queue = handle_of(frame);
	}
	visit_end(visit);
	if (ring.queue)
		slots_await(&calls, &ring, last);
}

/* (queue, count) */
void packets_before_add(struct call_frame *frame)
{
	struct launch_origin origin;
	struct counted_queue *queue;
	unsigned visit;

	frame->kept[IS_RESERVED] = false;
	visit = frame->integers[1] == 1 ? dispatch_runtime_visit() : 0;
	if (!visit)
		return;
	origin = launch_origin_of(frame);
	queue = queue_learn(frame);
	frame->kept[IS_RESERVED] =
		queue &&
		dispatch_engine_reserve(queue, handle_of(frame), &origin, &frame->kept[RESERVED]);
	visit_end(visit);
	if (!frame->kept[IS_RESERVED])
		return;
	/* Adding 0 makes HSA's function return the index without reserving. */
	frame->integers[1] = 0;
	dispatch_results_wake();
}

void packets_after_add(struct call_frame *frame, uint64_t end)
{
	(void)end;
	if (frame->kept[IS_RESERVED])
		frame->results[0] = frame->kept[RESERVED];
	else if (frame->integers[1])
		plain_note(frame, frame->results[0] + frame->integers[1] - 1);
}

/* (queue, expected, value): the application reserves slots itself. */
void packets_after_cas(struct call_frame *frame, uint64_t end)
{
	(void)end;
	if (frame->results[0] == frame->integers[1])
		plain_note(frame, frame->integers[2] - 1);
}

/* (queue, value): likewise. */
void packets_before_store(struct call_frame *frame)
{
	plain_note(frame, frame->integers[1] - 1);
}

static uint64_t doorbell_of(const struct call_frame *frame)
{
	const struct hsa_queue *queue = handle_of(frame);

	return queue ? queue->doorbell : 0;
}

struct queue_search {
	uint64_t doorbell;
	bool is_found;
};

static void set_check(struct counted_device *device, struct counted_set *set, void *data)
{
	struct queue_search *search = data;

	(void)device;
	search->is_found |=
		__atomic_load_n(&set->key->doorbell, __ATOMIC_SEQ_CST) == search->doorbell &&
		word_answer(__atomic_load_n(&set->word, __ATOMIC_ACQUIRE)) == ANSWER_COUNT &&
		dispatch_runtime_hsa()->signal_load(set->signal) > 0;
}

static bool queue_is_read(uint64_t doorbell)
{
	struct queue_search search = { doorbell, false };
	unsigned visit = dispatch_runtime_visit();

	if (!visit)
		return true;
	counted_sets_each(set_check, &search);
	visit_end(visit);
	return !search.is_found;
}

/* An application that has seen its last kernel finish does not wait for limpet's packets behind it:
 * gives the device a moment for them. */
void packets_before_destroy(struct call_frame *frame)
{
	struct patience patience = { 0, 0 };

	uint64_t doorbell = dispatch_runtime_is_watched() ? doorbell_of(frame) : 0;

	frame->kept[RESERVED] = 0;
	frame->kept[IS_RESERVED] = false;
	if (!doorbell)
		return;
	while (!queue_is_read(doorbell) && patience_pause(&patience, GLANCE_NS, LAST_NS))
		;
	frame->kept[IS_RESERVED] = counted_queue_leave(doorbell);
	frame->kept[RESERVED] = dispatch_engine_leave_queue(doorbell);
}

/* A queue whose destruction failed keeps running, unseen until it is used again. */
static void queue_end(const struct call_frame *frame)
{
	if (!frame->kept[IS_RESERVED])
		return;
	if ((int32_t)frame->results[0])
		dispatch_engine_spoil();
	counted_queue_end();
}

/* The device executes no packet of a destroyed queue. Its doorbell may belong to another queue by
 * now. */
void packets_after_destroy(struct call_frame *frame, uint64_t end)
{
	unsigned visit = 0;

	(void)end;
	queue_end(frame);
	if (frame->kept[RESERVED] && !(int32_t)frame->results[0])
		visit = dispatch_runtime_visit();
	if (!visit)
		return;
	counted_sets_lose(frame->kept[RESERVED], dispatch_runtime_hsa());
	visit_end(visit);
}

/* The call is unseen: the queue must not be found by its doorbell, which any signal may reuse. */
void packets_missed(const struct call_frame *frame)
{
	if (dispatch_runtime_is_watched())
		dispatch_engine_spoil();
	(void)frame;
}

void packets_missed_destroy(const struct call_frame *frame)
{
	packets_missed(frame);
	if (dispatch_runtime_is_watched())
		(void)dispatch_engine_leave_queue(doorbell_of(frame));
}

/* (signal, value): a doorbell, or any other signal. */
void packets_before_ring(struct call_frame *frame)
{
	uint64_t last = frame->integers[1];

	if (kernels_ask(frame, frame->integers[0], last))
		frame->integers[1] = last + SLOTS_EXTRA - 1;
}
