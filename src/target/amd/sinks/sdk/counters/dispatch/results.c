/*
 * Collects sets with the device turn held and inside the gate; calls the tool with neither.
 */
#include "target/amd/sinks/sdk/counters/dispatch/results.h"

#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/sinks/sdk/base/guard.h"
#include "target/amd/sinks/sdk/buffers/buffer.h"
#include "target/amd/sinks/sdk/counters/device_queue.h"
#include "target/amd/sinks/sdk/counters/device_turn.h"
#include "target/amd/sinks/sdk/counters/dispatch/engine.h"
#include "target/amd/sinks/sdk/counters/dispatch/service.h"
#include "target/amd/tables/threads.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/page.h"
#include "target/runtime/patience.h"

#include <sys/mman.h>

#define RECORDS_MAX 8192u
#define TURN_NS     100000000ull
#define GLANCE_NS   1000000u
#define REST_NS     20000000u /* after REST_AFTER checks without a result */
#define REST_AFTER  200u
#define AWAIT_NS    100000000ull
#define UNASKED_NS  1000000000ull /* then no thread calls the tool any more */
#define ROUNDS_MAX  256u

/* One kernel that is being reported. */
static struct results_memory {
	struct dispatch_data data;
	uint64_t user_data;
	uint32_t service;
	struct counter_records records;
	struct counted_values values;
	char evaluation[EVALUATION_BYTES];
	struct counter_record items[RECORDS_MAX];
} * memory;
static int32_t collector;    /* thread that uses the memory; 0: none */
static uint32_t is_sleeping; /* the polling thread must be woken for a set */
static uint32_t idle;        /* checks in a row without a result */

/* Layout from AMD's headers. */
struct dispatch_record {
	uint64_t size, count;
	uint64_t internal, external;
	uint64_t start_ns, end_ns;
	struct dispatch_info info;
};
_Static_assert(sizeof(struct dispatch_record) == 176, "as in the headers");

static bool memory_make(void)
{
	long r;

	if (memory)
		return true;
	r = raw6(SYS_mmap, 0, sizeof(*memory), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	memory = (struct results_memory *)r;
	return true;
}

/* One thread at a time; replaces one that ended inside its tool's callback. */
static bool collector_become(void)
{
	int32_t before = __atomic_load_n(&collector, __ATOMIC_ACQUIRE);

	return (!before || call_thread_is_gone(before)) &&
	       __atomic_compare_exchange_n(&collector, &before, call_thread_number(), false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void collector_end(void)
{
	__atomic_store_n(&collector, 0, __ATOMIC_RELEASE);
}

/* Another thread has collected a set, and may not have reported it yet. */
static bool collector_is_other(void)
{
	int32_t now = __atomic_load_n(&collector, __ATOMIC_ACQUIRE);

	return now && now != call_thread_number() && !call_thread_is_gone(now);
}

/* Whose results to collect. */
struct collecting {
	int tool;        /* -1: all tools */
	int32_t thread;  /* index in delivery.c; -1: any */
	bool is_hurried; /* do not wait for room in a buffer */
	uint64_t end_ns; /* limit; 0: while there are results */
};

struct set_search {
	uint64_t now_ns;
	const struct collecting *whose;
	struct counted_device *device;
	struct counted_set *found; /* NULL: none */
};

/* A tool gets results on its own thread. If that thread does not exist any more, any thread
 * collects the set without reporting it. */
static bool set_is_whose(const struct counted_set *set, const struct collecting *whose)
{
	const struct dispatch_service *service = dispatch_service_of(set->service);

	return !service || whose->tool < 0 || !delivery_has(service->thread) ||
	       (service->tool == whose->tool &&
		(whose->thread < 0 || service->thread == (uint32_t)whose->thread));
}

/* No thread will call the tool: the calling thread has ended, or the doorbell was never rung. */
static bool set_was_left(struct counted_set *set, uint64_t now_ns)
{
	uint64_t word = __atomic_load_n(&set->word, __ATOMIC_SEQ_CST);

	if (word_answer(word) == ANSWER_ASKING)
		return call_thread_is_gone(word_asker(word));
	set->seen_ns = set->seen_ns ? set->seen_ns : now_ns;
	return (word & WORD_LOST || now_ns - set->seen_ns > UNASKED_NS) &&
	       word_answer(word) == ANSWER_NONE &&
	       __atomic_compare_exchange_n(&set->word, &word, word | ANSWER_NOTHING, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static bool set_is_done(struct counted_set *set)
{
	return __atomic_load_n(&set->word, __ATOMIC_SEQ_CST) & WORD_LOST ||
	       dispatch_runtime_hsa()->signal_load(set->signal) <= 0;
}

static void set_check(struct counted_device *device, struct counted_set *set, void *data)
{
	struct set_search *search = data;

	if (search->found || !set_is_whose(set, search->whose) || !set_is_done(set))
		return;
	/* Acquire: pairs with answer_store() in asking.c. */
	if (word_answer(__atomic_load_n(&set->word, __ATOMIC_ACQUIRE)) < ANSWER_COUNT &&
	    !set_was_left(set, search->now_ns))
		return;
	search->device = device;
	search->found = set;
}

/* Only values that are right and complete. */
static bool set_read(const struct counted_device *device, const struct counted_set *set)
{
	const struct counted_config *config = counted_config_of(device, set);

	memory->records = (struct counter_records){ memory->items, 0, RECORDS_MAX };
	if (!config || set->word & WORD_LOST || __atomic_load_n(&set->is_mixed, __ATOMIC_SEQ_CST) ||
	    dispatch_engine_is_spoiled())
		return false;
	return config_packets_read(&config->packets, &set->aql, &memory->values) &&
	       counters_evaluate(&config->packets.config, &memory->values, memory->evaluation,
				 &memory->records);
}

/* True: there is a result to report. */
static bool set_collect(struct counted_device *device, struct counted_set *set)
{
	enum set_answer answer = word_answer(__atomic_load_n(&set->word, __ATOMIC_ACQUIRE));
	bool is_read = answer == ANSWER_COUNT && set_read(device, set);

	if (is_read) {
		memory->data = set->data;
		memory->user_data = set->user_data;
		memory->service = set->service;
	} else if (answer == ANSWER_COUNT || answer == ANSWER_OTHER) {
		dispatch_engine_miss();
	}
	counted_set_recycle(device, set, dispatch_runtime_hsa());
	return is_read;
}

enum step_result { STEP_IDLE, STEP_DONE, STEP_TELL };

static enum step_result step_inside(const struct collecting *whose)
{
	struct set_search search = { .now_ns = monotonic_ns(), .whose = whose };

	counted_sets_each(set_check, &search);
	if (!search.found)
		return STEP_IDLE;
	return set_collect(search.device, search.found) ? STEP_TELL : STEP_DONE;
}

static enum step_result step_collect(const struct collecting *whose)
{
	enum step_result result = STEP_IDLE;

	if (!device_turn_enter(TURN_NS))
		return STEP_IDLE;
	if (dispatch_runtime_enter()) {
		result = step_inside(whose);
		hsa_gate_leave();
	}
	device_turn_leave();
	return result;
}

static void record_call(void *argument)
{
	const struct dispatch_service *service = argument;

	service->record(memory->data, memory->records.items, memory->records.count,
			memory->user_data, service->record_data);
}

static bool buffer_has_room(const struct sdk_buffer *buffer, uint64_t bytes)
{
	uint64_t used =
		__atomic_load_n(&buffer->halves[buffer->active & 1].cursor, __ATOMIC_ACQUIRE) &
		USED_MASK;

	return used + bytes <= buffer->size;
}

/* The delivery thread can make room itself, record by record. False: other threads write all values
 * or none where values may be dropped. */
static bool buffer_make_room(const struct dispatch_service *service, uint64_t bytes, uint64_t all,
			     bool is_hurried)
{
	struct sdk_buffer *buffer = buffer_find(service->buffer);

	if (!buffer)
		return false;
	if (!delivery_is_me(buffer->thread))
		return !all || (buffer->policy == POLICY_LOSSLESS && !is_hurried) ||
		       buffer_has_room(buffer, all);
	if (buffer_has_room(buffer, bytes))
		return true;
	buffer_ask(buffer);
	buffers_deliver(buffer->thread);
	return true;
}

/* Enters the tool for one record only: buffers are delivered in between. */
static bool buffer_put(const struct dispatch_service *service, struct call_thread *thread, int kind,
		       const void *record, size_t size)
{
	uint64_t before = call_thread_enter_tool(thread, (unsigned)service->tool);
	bool is_put = dispatch_service_may_call(service) &&
		      buffer_write_counter(service->buffer, kind, record, size);

	call_thread_leave_tool(thread, before);
	return is_put;
}

static bool buffer_fill(const struct dispatch_service *service, struct call_thread *thread,
			bool is_hurried)
{
	const struct dispatch_data *data = &memory->data;
	struct counter_records *records = &memory->records;
	struct dispatch_record record = { sizeof(record), records->count, data->internal,
					  data->external, data->start_ns, data->end_ns,
					  data->info };
	uint64_t first = sizeof(struct record_base) + sizeof(record),
		 each = sizeof(struct record_base) + sizeof(records->items[0]);
	bool is_whole =
		buffer_make_room(service, first, first + records->count * each, is_hurried) &&
		buffer_put(service, thread, COUNTER_HEADER, &record, sizeof(record));

	for (size_t i = 0; is_whole && i < records->count; i++)
		is_whole = buffer_make_room(service, each, 0, is_hurried) &&
			   buffer_put(service, thread, COUNTER_VALUE, &records->items[i],
				      sizeof(records->items[i]));
	return is_whole;
}

static void result_give(const struct dispatch_service *service, struct call_thread *thread)
{
	uint64_t before = call_thread_enter_tool(thread, (unsigned)service->tool);

	if (dispatch_service_may_call(service))
		(void)guard_call(record_call, (void *)(uintptr_t)service);
	call_thread_leave_tool(thread, before);
}

static void result_report(bool is_hurried)
{
	const struct dispatch_service *service = dispatch_service_of(memory->service);
	struct call_thread *thread = call_thread_mine();

	if (!service || !thread)
		return;
	for (size_t i = 0; i < memory->records.count; i++) {
		memory->items[i].dispatch = memory->data.info.dispatch;
		memory->items[i].user_data = memory->user_data;
	}
	if (!service->buffer.handle)
		result_give(service, thread);
	else if (!buffer_fill(service, thread, is_hurried))
		dispatch_engine_miss();
}

/* True: something was collected. */
static bool results_collect(const struct collecting *whose)
{
	enum step_result result = STEP_IDLE;
	unsigned rounds = 0;

	if (!collector_become())
		return false;
	do {
		if (!memory_make())
			break;
		result = step_collect(whose);
		if (result == STEP_TELL)
			result_report(whose->is_hurried);
	} while (result != STEP_IDLE && ++rounds < ROUNDS_MAX &&
		 (!whose->end_ns || monotonic_ns() < whose->end_ns));
	collector_end();
	return rounds;
}

static void set_count(struct counted_device *device, struct counted_set *set, void *data)
{
	(void)device, (void)set;
	++*(uint32_t *)data;
}

static uint32_t sets_under_way(void)
{
	uint32_t count = 0;

	counted_sets_each(set_count, &count);
	return count;
}

/* If another thread begins the engine meanwhile: returns true, or the first set wakes this one. */
static bool sleep_until_begun(void)
{
	__atomic_store_n(&is_sleeping, 1, __ATOMIC_SEQ_CST);
	/* Sequential: is_begun is read after is_sleeping is stored. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return dispatch_runtime_is_watched();
}

uint64_t dispatch_results_deliver(int tool, unsigned thread)
{
	const struct dispatch_service *service = dispatch_service_active();
	struct collecting own = { .tool = tool, .thread = (int32_t)thread };

	if (!page_is_own())
		return 0;
	if (service && service->tool == tool && service->thread == thread)
		dispatch_engine_follow();
	if (!dispatch_runtime_is_watched() && !sleep_until_begun())
		return 0;
	if (results_collect(&own))
		__atomic_store_n(&idle, 0, __ATOMIC_RELAXED);
	/* No service counts any more: frees the engine. */
	if (!service && !sets_under_way())
		dispatch_engine_follow();
	/* Sequential: a thread that puts a set sees is_sleeping, or this one sees its set. */
	__atomic_store_n(&is_sleeping, 1, __ATOMIC_SEQ_CST);
	if (!sets_under_way())
		return 0;
	return __atomic_add_fetch(&idle, 1, __ATOMIC_RELAXED) > REST_AFTER ? REST_NS : GLANCE_NS;
}

void dispatch_results_wake(void)
{
	const struct dispatch_service *service;

	if (!__atomic_exchange_n(&is_sleeping, 0, __ATOMIC_SEQ_CST))
		return;
	__atomic_store_n(&idle, 0, __ATOMIC_RELAXED);
	service = dispatch_service_active();
	if (service)
		delivery_wake(service->thread);
}

struct tool_search {
	int tool;
	bool is_found;
};

static void set_match(struct counted_device *device, struct counted_set *set, void *data)
{
	struct tool_search *search = data;
	const struct dispatch_service *service = dispatch_service_of(set->service);

	(void)device;
	search->is_found |= service && service->tool == search->tool;
}

static bool tool_has_sets(int tool)
{
	struct tool_search search = { tool, false };

	counted_sets_each(set_match, &search);
	return search.is_found;
}

void dispatch_results_drain(int tool, uint64_t limit_ns)
{
	struct collecting tools = { .tool = tool,
				    .thread = -1,
				    .end_ns = monotonic_ns() + limit_ns };
	struct patience patience = { 0, 0 };

	if (!page_is_own() || !dispatch_runtime_is_watched())
		return;
	do
		(void)results_collect(&tools);
	while ((tool_has_sets(tool) || collector_is_other()) && !device_queues_are_over() &&
	       patience_pause(&patience, GLANCE_NS, limit_ns));
	dispatch_engine_follow();
}

/* A thread that calls exit() inside a tool, or in a signal handler there: the tool may hold its
 * locks. */
static bool thread_is_in_tool(void)
{
	const struct call_thread *mine = call_thread_mine();

	return mine && mine->tools_inside;
}

void dispatch_results_finish(uint64_t limit_ns)
{
	struct collecting of_all = {
		.tool = -1, .thread = -1, .is_hurried = true, .end_ns = monotonic_ns() + limit_ns
	};
	struct patience patience = { 0, 0 };

	if (!dispatch_runtime_is_watched())
		return;
	dispatch_engine_halt();
	if (thread_is_in_tool())
		return;
	do
		(void)results_collect(&of_all);
	while (sets_under_way() && patience_pause(&patience, GLANCE_NS, limit_ns));
}

void dispatch_results_give_back(void)
{
	struct collecting of_all = {
		.tool = -1, .thread = -1, .is_hurried = true, .end_ns = monotonic_ns() + AWAIT_NS
	};

	if (!page_is_own() || !dispatch_runtime_is_watched() || dispatch_service_active())
		return;
	(void)results_collect(&of_all);
	dispatch_engine_follow();
}

static void set_look_done(struct counted_device *device, struct counted_set *set, void *data)
{
	(void)device;
	*(bool *)data |= set_is_done(set);
}

/* In a visit: signals of sets stay valid. */
static bool sets_are_done(void)
{
	unsigned visit = dispatch_runtime_visit();
	bool are_done = false;

	if (!visit)
		return false;
	if (dispatch_runtime_enter()) {
		counted_sets_each(set_look_done, &are_done);
		hsa_gate_leave();
	}
	visit_end(visit);
	return are_done;
}

/* A thread inside a tool does not wait: the delivery thread may be waiting for it. */
void dispatch_results_await(void)
{
	const struct dispatch_service *service = dispatch_service_active();
	const struct call_thread *mine = call_thread_mine();
	struct patience patience = { 0, 0 };

	if (!service || !mine || mine->tools_inside || delivery_is_me(service->thread) ||
	    !page_is_own())
		return;
	while (sets_are_done() && patience_pause(&patience, GLANCE_NS / 10, AWAIT_NS))
		delivery_wake(service->thread);
}

void dispatch_results_adopt(void)
{
	collector = 0;
}
