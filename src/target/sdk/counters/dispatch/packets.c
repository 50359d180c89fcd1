/*
 * Calls by which the program uses its queues.  On its threads, around them: room for one packet is
 * taken with packets of ours around it, and when the packet is rung for, the tool is asked.
 */
#include "target/runtime/patience.h"
#include "target/sdk/contexts.h"
#include "target/sdk/counters/dispatch/engine.h"
#include "target/sdk/counters/dispatch/results.h"
#include "target/sdk/counters/dispatch/service.h"
#include "target/sdk/devices/code_store.h"
#include "target/sdk/external.h"
#include "target/sdk/guard.h"
#include "target/sdk/service.h"
#include "target/sdk/tables/watch.h"

#define INFO_AGENT     0u
#define FEATURES       3u /* bits: what a queue takes */
#define AGENT_DISPATCH 2u
#define DIMENSIONS_MAX 3u
#define GLANCE_NS      20000u
#define LAST_NS        20000000ull /* before a queue is destroyed */

static uint64_t hsa_agent_of(const struct hsa_queue *queue)
{
	const struct hsa_functions *hsa = dispatch_engine_hsa();
	uint64_t agent = 0;

	return hsa->queue_info && !hsa->queue_info(queue, INFO_AGENT, &agent) ? agent : 0;
}

/* The one device that there is; 0: none, or several. */
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

/* What is in it already went by uncounted. */
static void queue_describe(struct counted_queue *queue)
{
	const struct hsa_functions *hsa = dispatch_engine_hsa();
	uint64_t agent = hsa_agent_of(queue->ring.queue), next;

	/* One that the host serves. */
	if ((queue->ring.queue->features & FEATURES) == AGENT_DISPATCH)
		return;
	agent = agent ? agent : agent_find_only();
	if (!agent)
		dispatch_engine_spoil();
	queue->device = counted_device_of(agent);
	if (!queue->device)
		return;
	__atomic_fetch_add(&queue->device->queue_count, 1, __ATOMIC_SEQ_CST);
	next = hsa->load_write(queue->ring.queue);
	if ((int64_t)(next - hsa->load_read(queue->ring.queue)) > 0)
		dispatch_engine_note_plain(queue, next - 1);
}

/* NULL: it cannot be told what goes on in it. */
static struct counted_queue *queue_learn(const struct sdk_frame *frame)
{
	struct counted_queue *queue =
		counted_queue_learn((const struct hsa_queue *)frame->integers[0], queue_describe);

	if (!queue)
		dispatch_engine_spoil();
	return queue;
}

static void plain_note(const struct sdk_frame *frame, uint64_t last)
{
	struct counted_queue *queue;

	if (!dispatch_engine_visit())
		return;
	queue = queue_learn(frame);
	if (queue)
		dispatch_engine_note_plain(queue, last);
	dispatch_engine_leave();
}

/* (queue, count) */
void packets_before_add(struct sdk_frame *frame)
{
	struct counted_queue *queue;

	frame->is_reserved = false;
	if (frame->integers[1] != 1 || !dispatch_engine_visit())
		return;
	queue = queue_learn(frame);
	frame->is_reserved = queue && dispatch_engine_reserve(queue, &frame->reserved);
	dispatch_engine_leave();
	if (!frame->is_reserved)
		return;
	/* The original gives the present index, and takes none. */
	frame->integers[1] = 0;
	dispatch_results_wake();
}

void packets_after_add(struct sdk_frame *frame, uint64_t end)
{
	(void)end;
	if (frame->is_reserved)
		frame->results[0] = frame->reserved;
	else if (frame->integers[1])
		plain_note(frame, frame->results[0] + frame->integers[1] - 1);
}

/* (queue, expected, value): the program takes room itself. */
void packets_after_cas(struct sdk_frame *frame, uint64_t end)
{
	(void)end;
	if (frame->results[0] == frame->integers[1])
		plain_note(frame, frame->integers[2] - 1);
}

/* (queue, value): likewise. */
void packets_before_store(struct sdk_frame *frame)
{
	plain_note(frame, frame->integers[1] - 1);
}

static uint64_t doorbell_of(const struct sdk_frame *frame)
{
	const struct hsa_queue *queue = (const struct hsa_queue *)frame->integers[0];

	return queue ? queue->doorbell : 0;
}

struct queue_search {
	uint64_t doorbell;
	bool is_found;
};

static void set_look(struct counted_device *device, struct counted_set *set, void *data)
{
	struct queue_search *search = data;

	(void)device;
	search->is_found |=
		__atomic_load_n(&set->key->doorbell, __ATOMIC_SEQ_CST) == search->doorbell &&
		__atomic_load_n(&set->answer, __ATOMIC_ACQUIRE) == ANSWER_COUNT &&
		dispatch_engine_hsa()->signal_load(set->signal) > 0;
}

static bool queue_is_read(uint64_t doorbell)
{
	struct queue_search search = { doorbell, false };

	if (!dispatch_engine_visit())
		return true;
	counted_sets_each(set_look, &search);
	dispatch_engine_leave();
	return !search.is_found;
}

/* A program that has seen its last kernel done does not wait for our packets behind it: the device
 * is given a moment for them. */
void packets_before_destroy(struct sdk_frame *frame)
{
	struct patience patience = { 0, 0 };

	frame->reserved = dispatch_engine_is_begun() ? doorbell_of(frame) : 0;
	if (!frame->reserved)
		return;
	while (!queue_is_read(frame->reserved) && patience_pause(&patience, GLANCE_NS, LAST_NS))
		;
	dispatch_engine_leave_queue(frame->reserved);
}

static void set_lose(struct counted_device *device, struct counted_set *set, void *data)
{
	(void)device;
	if (__atomic_load_n(&set->key->doorbell, __ATOMIC_SEQ_CST) == *(const uint64_t *)data &&
	    dispatch_engine_hsa()->signal_load(set->signal) > 0)
		__atomic_store_n(&set->is_lost, 1, __ATOMIC_SEQ_CST);
}

/* Its device does no more for what it has not done. */
void packets_after_destroy(struct sdk_frame *frame, uint64_t end)
{
	(void)end;
	if (!frame->reserved || (int32_t)frame->results[0] || !dispatch_engine_visit())
		return;
	counted_sets_each(set_lose, &frame->reserved);
	dispatch_engine_leave();
}

void packets_missed(void)
{
	if (dispatch_engine_is_begun())
		dispatch_engine_spoil();
}

/* What is asked of the tool, and its answer. */
struct question {
	struct dispatch_service *service;
	struct dispatch_data data;
	struct sdk_handle config;
	uint64_t user_data;
};

static void question_ask(void *argument)
{
	struct question *question = argument;

	question->service->choose(question->data, &question->config, &question->user_data,
				  question->service->choose_data);
}

static uint64_t external_find(const struct sdk_frame *frame, unsigned index, uint64_t internal)
{
	const struct sdk_context *context = &sdk_contexts[index];
	uint64_t value = external_current(index, frame->thread->number);

	if (context->request && context->request_kinds & 1u << REQUEST_KERNEL)
		service_request(index, REQUEST_KERNEL, DISPATCH_ENQUEUE, internal, &value);
	return value;
}

static void question_fill(struct question *question, const struct sdk_frame *frame,
			  const struct counted_queue *queue, const struct hsa_packet *packet)
{
	struct dispatch_data *data = &question->data;
	struct dispatch_info *info = &data->info;

	*data = (struct dispatch_data){ .size = sizeof(*data) };
	/* The call that launches it, where one is seen. */
	data->internal = !frame->seen_count && frame->ancestor ? frame->ancestor : frame->internal;
	data->external = external_find(frame, question->service->context, data->internal);
	info->size = sizeof(*info) - sizeof(info->reserved);
	info->agent = queue->device->id;
	info->queue.handle = queue->id + 1;
	info->kernel = code_store_find_object(packet->kernel);
	info->dispatch = dispatch_next();
	info->private = packet->private_bytes;
	info->group = packet->group_bytes;
	for (unsigned i = 0; i < 3; i++) {
		info->workgroup[i] = packet->group[i];
		info->grid[i] = packet->grid[i];
	}
}

/* Once for each kernel, on the thread that rings for it; a kernel of the tool's own is not shown to
 * it.  False: it was not asked. */
static bool tool_ask(struct question *question, struct sdk_frame *frame,
		     const struct counted_queue *queue, const struct hsa_packet *packet)
{
	uint64_t before;
	bool is_asked;

	question->service = dispatch_service_active();
	question->config.handle = question->user_data = 0;
	if (!question->service || frame->thread->tools_inside & 1ull << question->service->tool)
		return false;
	question_fill(question, frame, queue, packet);
	before = sdk_thread_enter_tool(frame->thread, (unsigned)question->service->tool);
	is_asked = dispatch_service_may_call(question->service);
	if (is_asked)
		is_asked = !guard_call(question_ask, question);
	sdk_thread_leave_tool(frame->thread, before);
	if (is_asked && question->config.handle)
		dispatch_engine_expect(queue->device, question->config.handle);
	return is_asked;
}

static struct hsa_packet *packet_at(const struct counted_queue *queue, uint64_t index)
{
	return (struct hsa_packet *)queue->ring.base + (index & (queue->ring.size - 1));
}

static uint16_t packet_type(const struct hsa_packet *packet)
{
	return __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE) & PACKET_TYPE;
}

/* Is what stands there still that packet?  Whoever takes its place takes room first. */
static bool packet_is_there(const struct counted_queue *queue, uint64_t index)
{
	return dispatch_engine_hsa()->load_write(queue->ring.queue) - index <= queue->ring.size;
}

/* The device may have done it before it is rung for, since a later one was: what it did still
 * stands in the packet. */
static bool packet_is_kernel(const struct hsa_packet *packet)
{
	uint16_t type = packet_type(packet);

	return type == PACKET_KERNEL || (type == PACKET_INVALID && packet->setup &&
					 packet->setup <= DIMENSIONS_MAX && packet->kernel);
}

static uint64_t config_around(const struct counted_device *device, const struct counted_set *set)
{
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++)
		if (set >= device->configs[i].sets && set < device->configs[i].sets + COUNTED_SETS)
			return device->configs[i].handle;
	return 0;
}

static enum set_answer set_ask(struct counted_set *set, struct sdk_frame *frame,
			       const struct counted_queue *queue, uint64_t index)
{
	struct hsa_packet packet = *packet_at(queue, index);
	struct question question;

	/* Acquire: looked at after it was read. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!packet_is_there(queue, index))
		return ANSWER_OTHER;
	if (!packet_is_kernel(&packet) || !tool_ask(&question, frame, queue, &packet) ||
	    !question.config.handle)
		return ANSWER_NOTHING;
	if (question.service->life != set->service ||
	    question.config.handle != config_around(queue->device, set))
		return ANSWER_OTHER;
	set->data = question.data;
	set->user_data = question.user_data;
	return ANSWER_COUNT;
}

/* Or was, and the device has done it. */
static bool packet_is_filled_in(const struct counted_queue *queue, uint64_t index)
{
	return packet_type(packet_at(queue, index)) != PACKET_INVALID ||
	       (int64_t)(dispatch_engine_hsa()->load_read(queue->ring.queue) - index) > 0;
}

static bool set_is_unasked(const struct counted_queue *queue, const struct counted_set *set,
			   uint64_t last)
{
	uint64_t index = __atomic_load_n(&set->key->index, __ATOMIC_RELAXED);

	return __atomic_load_n(&set->key->doorbell, __ATOMIC_SEQ_CST) == queue->doorbell &&
	       (int64_t)(last - index) >= 0 &&
	       __atomic_load_n(&set->answer, __ATOMIC_ACQUIRE) == ANSWER_NONE &&
	       (index == last || packet_is_filled_in(queue, index));
}

/* The first of those that are rung for and were not asked for. */
static struct counted_set *set_find(const struct counted_queue *queue, uint64_t last)
{
	struct counted_set *found = NULL;

	for (unsigned i = 0; i < COUNTED_CONFIGS; i++) {
		struct counted_set *sets =
			__atomic_load_n(&queue->device->configs[i].sets, __ATOMIC_ACQUIRE);

		for (unsigned j = 0; sets && j < COUNTED_SETS; j++)
			if (set_is_unasked(queue, &sets[j], last) &&
			    (!found || (int64_t)(sets[j].key->index - found->key->index) < 0))
				found = &sets[j];
	}
	return found;
}

static void sets_ask(struct sdk_frame *frame, const struct counted_queue *queue, uint64_t last)
{
	struct counted_set *set;

	while ((set = set_find(queue, last))) {
		uint64_t index = set->key->index;
		uint32_t none = ANSWER_NONE;

		if (!__atomic_compare_exchange_n(&set->answer, &none, ANSWER_ASKING, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		__atomic_store_n(&set->asker, frame->thread->number, __ATOMIC_SEQ_CST);
		/* Release: who sees the answer sees what was asked. */
		__atomic_store_n(&set->answer, set_ask(set, frame, queue, index), __ATOMIC_RELEASE);
	}
}

/* One without a set around it. */
static void plain_ask(struct sdk_frame *frame, const struct counted_queue *queue, uint64_t index)
{
	struct hsa_packet packet = *packet_at(queue, index);
	struct question question;

	if ((packet.header & PACKET_TYPE) == PACKET_KERNEL &&
	    tool_ask(&question, frame, queue, &packet) && question.config.handle)
		dispatch_engine_miss();
}

static bool set_is_around(const struct counted_queue *queue, uint64_t index)
{
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++) {
		struct counted_set *sets =
			__atomic_load_n(&queue->device->configs[i].sets, __ATOMIC_ACQUIRE);

		for (unsigned j = 0; sets && j < COUNTED_SETS; j++)
			if (__atomic_load_n(&sets[j].key->doorbell, __ATOMIC_SEQ_CST) ==
				    queue->doorbell &&
			    __atomic_load_n(&sets[j].key->index, __ATOMIC_RELAXED) == index)
				return true;
	}
	return false;
}

/* A tool that is asked may take its time, and no entry is kept for that. */
static bool queue_copy(uint64_t doorbell, struct counted_queue *ret)
{
	const struct counted_queue *queue;

	if (!dispatch_engine_visit())
		return false;
	queue = counted_queue_of(doorbell);
	if (queue)
		*ret = *queue;
	dispatch_engine_leave();
	return queue && ret->device;
}

/* (signal, value): a doorbell, or any other signal. */
void packets_before_ring(struct sdk_frame *frame)
{
	struct counted_queue queue;
	uint64_t last = frame->integers[1];
	bool is_around;

	if (!queue_copy(frame->integers[0], &queue))
		return;
	is_around = set_is_around(&queue, last);
	sets_ask(frame, &queue, last);
	if (is_around)
		frame->integers[1] = last + SLOTS_EXTRA - 1;
	else
		plain_ask(frame, &queue, last);
}
