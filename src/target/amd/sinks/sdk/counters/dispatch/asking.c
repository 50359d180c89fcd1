/*
 * Runs on application threads, inside the call that rings the doorbell. The tool's callback may run
 * long without any lock or visit held, so its answer is stored only if the set is unchanged.
 */
#include "target/amd/sinks/sdk/counters/dispatch/packets.h"

#include "target/amd/events/events.h"
#include "target/amd/hsa/code_store.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/external.h"
#include "target/amd/sinks/sdk/base/guard.h"
#include "target/amd/sinks/sdk/counters/dispatch/engine.h"
#include "target/amd/sinks/sdk/counters/dispatch/expected.h"
#include "target/amd/sinks/sdk/counters/dispatch/service.h"

#define DIMENSIONS_MAX 3u

/* Copy of a queue when its doorbell was rung; `entry` may hold another queue by now. */
struct rung_queue {
	struct counted_queue queue;
	const struct counted_queue *entry;
};

/* The tool's callback: arguments and answer. */
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

struct launch_origin launch_origin_of(const struct call_frame *frame)
{
	const struct dispatch_service *service = dispatch_service_active();
	int32_t thread = frame->thread->number;

	return (struct launch_origin){
		.thread = thread,
		.around = tools_frame_of((struct call_frame *)(uintptr_t)frame)->seen_count
				  ? 0
				  : frame->ancestor,
		.internal = frame->internal,
		.external = service ? external_current(service->context, thread) : 0
	};
}

/* The origin stored when the slot was reserved, if it was seen: another thread may ring for the
 * kernel. */
static struct launch_origin origin_choose(const struct launch_origin *origin,
					  const struct call_frame *frame)
{
	struct launch_origin mine = launch_origin_of(frame);

	return origin && (origin->around || origin->thread != mine.thread) ? *origin : mine;
}

static uint64_t external_find(const struct launch_origin *origin, unsigned index, uint64_t internal)
{
	const struct sdk_context *context = &sdk_contexts[index];
	uint64_t value = origin->external;

	if (context->request && context->request_kinds & 1u << REQUEST_KERNEL)
		service_request(index, REQUEST_KERNEL, DISPATCH_ENQUEUE, internal, &value);
	return value;
}

/* The number under which the enclosing call has already shown the kernel as a dispatch. */
static uint64_t dispatch_find(const struct launch_origin *origin, const struct call_frame *frame)
{
	struct told_dispatch *told = &frame->thread->told;
	uint64_t number = told->number;

	if (!number || origin->thread != frame->thread->number || told->call != frame->ancestor)
		return events_dispatch();
	told->number = 0;
	return number;
}

static void question_fill(struct question *question, const struct call_frame *frame,
			  const struct launch_origin *from, const struct counted_queue *queue,
			  const struct hsa_packet *packet)
{
	struct launch_origin origin = origin_choose(from, frame);
	struct dispatch_data *data = &question->data;
	struct dispatch_info *info = &data->info;

	*data = (struct dispatch_data){ .size = sizeof(*data) };
	/* The call that launches the kernel, if one is seen. */
	data->internal = origin.around ? origin.around : origin.internal;
	data->external = external_find(&origin, question->service->context, data->internal);
	info->size = sizeof(*info) - sizeof(info->reserved);
	info->agent = queue->device->id;
	info->queue.handle = queue->id + 1;
	info->kernel = code_store_find_object(packet->kernel);
	info->dispatch = dispatch_find(&origin, frame);
	info->private = packet->private_bytes;
	info->group = packet->group_bytes;
	for (unsigned i = 0; i < 3; i++) {
		info->workgroup[i] = packet->group[i];
		info->grid[i] = packet->grid[i];
	}
}

/* Kernels that the tool launches itself are not shown to it. False: the tool was not called. */
static bool tool_ask(struct question *question, struct call_frame *frame,
		     const struct launch_origin *origin, const struct counted_queue *queue,
		     const struct hsa_packet *packet)
{
	uint64_t before;
	bool is_asked;

	question->service = dispatch_service_active();
	question->config.handle = question->user_data = 0;
	if (!question->service || frame->thread->tools_inside & 1ull << question->service->tool)
		return false;
	question_fill(question, frame, origin, queue, packet);
	before = call_thread_enter_tool(frame->thread, (unsigned)question->service->tool);
	is_asked = dispatch_service_may_call(question->service);
	if (is_asked)
		is_asked = !guard_call(question_ask, question);
	call_thread_leave_tool(frame->thread, before);
	if (is_asked && question->config.handle)
		config_expect_after(queue->device, question->config.handle);
	return is_asked;
}

static struct hsa_packet *packet_at(const struct rung_queue *rung, uint64_t index)
{
	return (struct hsa_packet *)rung->queue.ring.base + (index & (rung->queue.ring.size - 1));
}

static uint16_t packet_type(const struct hsa_packet *packet)
{
	return __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE) & PACKET_TYPE;
}

/* False if the slot was reused while it was read: a thread reserves a slot before writing to it. */
static bool packet_copy(const struct rung_queue *rung, uint64_t index, struct hsa_packet *ret)
{
	*ret = *packet_at(rung, index);
	/* Acquire: checked after the packet was read. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return counted_queue_has(rung->entry, index) &&
	       __atomic_load_n(&rung->entry->life, __ATOMIC_SEQ_CST) == rung->queue.life;
}

/* The device may have executed the packet before its doorbell, because of a later one: then the
 * header is invalid, but the other fields are intact. */
static bool packet_is_kernel(const struct hsa_packet *packet)
{
	uint16_t type = packet->header & PACKET_TYPE;

	return type == PACKET_KERNEL || (type == PACKET_INVALID && packet->setup &&
					 packet->setup <= DIMENSIONS_MAX && packet->kernel);
}

static uint64_t config_around(const struct counted_device *device, const struct counted_set *set)
{
	const struct counted_config *config = counted_config_of(device, set);

	return config ? config->handle : 0;
}

/* A set whose kernel was not shown to the tool yet, as it was found. */
struct found_set {
	struct counted_set *set; /* NULL: none */
	uint64_t word, index;
};

static enum set_answer set_ask(const struct found_set *found, struct call_frame *frame,
			       const struct rung_queue *rung, struct question *question)
{
	struct counted_device *device = rung->queue.device;
	struct hsa_packet packet;

	if (!packet_copy(rung, found->index, &packet))
		return ANSWER_OTHER;
	if (!packet_is_kernel(&packet) ||
	    !tool_ask(question, frame, &found->set->origin, &rung->queue, &packet) ||
	    !question->config.handle)
		return ANSWER_NOTHING;
	if (question->service->life != found->set->service ||
	    question->config.handle != config_around(device, found->set))
		return ANSWER_OTHER;
	return ANSWER_COUNT;
}

/* In a visit: while this thread is in it and HSA is up, no other thread recycles the set. */
static void answer_store(const struct found_set *found, uint64_t asking, enum set_answer answer,
			 const struct question *question)
{
	struct counted_set *set = found->set;
	uint64_t word = __atomic_load_n(&set->word, __ATOMIC_SEQ_CST);

	if ((word & ~WORD_LOST) != asking)
		return;
	if (answer == ANSWER_COUNT) {
		set->data = question->data;
		set->user_data = question->user_data;
	}
	/* Release: pairs with set_check() in results.c; publishes data and user_data. */
	while ((word & ~WORD_LOST) == asking &&
	       !__atomic_compare_exchange_n(&set->word, &word, (word & ~WORD_ANSWER) | answer,
					    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* True also if the device has executed the packet. */
static bool packet_is_filled_in(const struct rung_queue *rung, const struct counted_set *set,
				uint64_t index)
{
	return packet_type(packet_at(rung, index)) != PACKET_INVALID ||
	       dispatch_runtime_hsa()->signal_load(set->signal) <= 0;
}

static bool set_is_of(const struct counted_queue *queue, const struct counted_set *set)
{
	return __atomic_load_n(&set->key->doorbell, __ATOMIC_SEQ_CST) == queue->doorbell &&
	       __atomic_load_n(&set->queue_life, __ATOMIC_ACQUIRE) == queue->life;
}

/* Reads the word first: if it is unchanged at the end, what was read in between belongs to it. */
static bool set_is_unasked(const struct rung_queue *rung, struct counted_set *set, uint64_t last,
			   struct found_set *ret)
{
	uint64_t word = __atomic_load_n(&set->word, __ATOMIC_SEQ_CST), index;

	if (word_answer(word) != ANSWER_NONE || word & WORD_LOST || !set_is_of(&rung->queue, set))
		return false;
	index = __atomic_load_n(&set->key->index, __ATOMIC_ACQUIRE);
	*ret = (struct found_set){ set, word, index };
	return (int64_t)(last - index) >= 0 &&
	       (index == last || packet_is_filled_in(rung, set, index));
}

/* In a visit: signals of sets stay valid. */
static bool set_search(const struct rung_queue *rung, uint64_t last, struct found_set *ret)
{
	const struct counted_device *device = rung->queue.device;
	struct found_set found;

	ret->set = NULL;
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++) {
		struct counted_set *sets =
			__atomic_load_n(&device->configs[i].sets, __ATOMIC_ACQUIRE);

		for (unsigned j = 0; sets && j < COUNTED_SETS; j++)
			if (set_is_unasked(rung, &sets[j], last, &found) &&
			    (!ret->set || (int64_t)(found.index - ret->index) < 0))
				*ret = found;
	}
	return ret->set;
}

/* Finds the first set that was rung for and not shown to the tool. */
static bool set_find(const struct rung_queue *rung, uint64_t last, struct found_set *ret)
{
	unsigned visit = dispatch_runtime_visit();
	bool is_found = visit && set_search(rung, last, ret);

	if (visit)
		visit_end(visit);
	return is_found;
}

static void sets_ask(struct call_frame *frame, const struct rung_queue *rung, uint64_t last)
{
	struct question question;
	struct found_set found;

	while (set_find(rung, last, &found)) {
		uint64_t asking = word_asking(found.word, frame->thread->number);
		enum set_answer answer;
		unsigned visit;

		if (!__atomic_compare_exchange_n(&found.set->word, &found.word, asking, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		answer = set_ask(&found, frame, rung, &question);
		visit = dispatch_runtime_visit();
		if (!visit)
			return;
		answer_store(&found, asking, answer, &question);
		visit_end(visit);
	}
}

/* A kernel without a set around it. */
static void plain_ask(struct call_frame *frame, const struct rung_queue *rung, uint64_t index)
{
	struct hsa_packet packet;
	struct question question;

	if (packet_copy(rung, index, &packet) && (packet.header & PACKET_TYPE) == PACKET_KERNEL &&
	    tool_ask(&question, frame, NULL, &rung->queue, &packet) && question.config.handle)
		dispatch_engine_miss();
}

static bool set_is_around(const struct counted_queue *queue, uint64_t index)
{
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++) {
		struct counted_set *sets =
			__atomic_load_n(&queue->device->configs[i].sets, __ATOMIC_ACQUIRE);

		for (unsigned j = 0; sets && j < COUNTED_SETS; j++)
			if (set_is_of(queue, &sets[j]) &&
			    __atomic_load_n(&sets[j].key->index, __ATOMIC_RELAXED) == index)
				return true;
	}
	return false;
}

static bool queue_copy(uint64_t doorbell, struct rung_queue *ret)
{
	unsigned visit = dispatch_runtime_visit();

	if (!visit)
		return false;
	ret->entry = counted_queue_of(doorbell);
	if (ret->entry)
		ret->queue = *ret->entry;
	visit_end(visit);
	return ret->entry && ret->queue.device;
}

/* A tool that has left its callback by a jump never answers. */
static void left_questions_end(const struct call_thread *thread)
{
	const struct dispatch_service *service = dispatch_service_active();

	if (service && !(thread->tools_inside & 1ull << service->tool))
		counted_sets_leave(thread->number);
}

bool kernels_ask(struct call_frame *frame, uint64_t doorbell, uint64_t last)
{
	struct rung_queue rung;
	bool is_around;

	if (!queue_copy(doorbell, &rung))
		return false;
	left_questions_end(frame->thread);
	is_around = set_is_around(&rung.queue, last);
	sets_ask(frame, &rung, last);
	if (!is_around)
		plain_ask(frame, &rung, last);
	return is_around;
}
