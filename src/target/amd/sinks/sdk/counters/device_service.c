/*
 * Services are configured on the runner's thread; started, read and stopped on threads of tools, or
 * on the thread that attaches and detaches. Their fields are changed with the device turn held
 * (device_turn.h), except the chosen config: a tool is called without the turn.
 */
#include "target/amd/sinks/sdk/counters/device_service.h"

#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/guard.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/device_counting.h"
#include "target/amd/sinks/sdk/counters/device_turn.h"
#include "target/amd/tables/threads.h"
#include "target/runtime/page.h"

#define TURN_NS    2000000000ull
#define ROUNDS_MAX 8u

struct device_service {
	uint32_t is_set; /* the wish is filled in */
	struct device_wish wish;
	uint32_t is_read;         /* a thread is reading */
	int32_t chooser;          /* the thread in the tool's callback; 0: none */
	uint64_t chooser_frame;   /* its stack address at the callback */
	uint32_t has_chosen;      /* since the context was started */
	struct sdk_handle config; /* the chosen config; 0: nothing */
	int32_t fault;            /* why it does not count: a status */
	uint32_t beginning;       /* of counting, as last reported (device_counting.h); 0: none */
};

/* The entry with the same index in device_counting.h counts for it. */
static struct device_service services[COUNTINGS_MAX];

static bool service_is_set(const struct device_service *service)
{
	/* Acquire: pairs with device_service_add(). */
	return __atomic_load_n(&service->is_set, __ATOMIC_ACQUIRE);
}

static bool service_is_of(const struct device_service *service, unsigned context)
{
	return service_is_set(service) && service->wish.context == context &&
	       service->wish.context_life == sdk_contexts[context].life;
}

static bool service_is_wanted(const struct device_service *service)
{
	return service_is_of(service, service->wish.context) &&
	       context_state(&sdk_contexts[service->wish.context]) == CONTEXT_ACTIVE;
}

/* Its context was forgotten. */
static bool service_is_orphan(const struct device_service *service)
{
	return !service_is_of(service, service->wish.context) ||
	       context_state(&sdk_contexts[service->wish.context]) == CONTEXT_FREE;
}

/* A thread may leave the callback without returning: by a jump, or by ending. */
static bool chooser_has_left(const struct device_service *service, int32_t chooser)
{
	if (chooser == (int32_t)raw0(SYS_gettid))
		return call_frame_was_left(service->chooser_frame,
					   (uint64_t)__builtin_frame_address(0));
	return call_thread_is_gone(chooser);
}

/* The thread in the tool's callback; 0: none. */
static int32_t service_chooser(const struct device_service *service)
{
	/* Acquire: pairs with chooser_become(). */
	int32_t chooser = __atomic_load_n(&service->chooser, __ATOMIC_ACQUIRE);

	return chooser && !chooser_has_left(service, chooser) ? chooser : 0;
}

/* Is the calling thread in the tool's callback? */
static bool service_is_choosing(const struct device_service *service)
{
	return service_chooser(service) == (int32_t)raw0(SYS_gettid);
}

/* Passed to the tool's callback, which runs while its context starts. */
static int set_config(struct limpet_context context, struct sdk_handle config)
{
	const struct counter_config *found = config_find(config);
	int r = SDK_CONFIGURATION_LOCKED;

	if (!context_find(context))
		return SDK_CONTEXT_INVALID;
	if (!found)
		return SDK_PROFILE_NOT_FOUND;
	for (unsigned i = 0; i < COUNTINGS_MAX; i++) {
		struct device_service *service = &services[i];

		if (!service_is_of(service, context_index(context)) ||
		    !service_is_choosing(service))
			continue;
		if (service->wish.agent.handle == found->agent.handle) {
			__atomic_store_n(&service->config.handle, config.handle, __ATOMIC_RELAXED);
			return SDK_SUCCESS;
		}
		r = SDK_AGENT_MISMATCH;
	}
	return r;
}

static void tool_choose(void *argument)
{
	const struct device_wish *wish = &((struct device_service *)argument)->wish;

	wish->choose((struct limpet_context){ wish->context + 1 }, wish->agent, set_config,
		     wish->data);
}

/* Enters the tool, then checks the context, which may have stopped before. */
static bool config_choose(struct device_service *service)
{
	struct call_thread *thread = call_thread_mine();
	uint64_t before;
	bool is_asked;

	if (!thread)
		return false;
	before = call_thread_enter_tool(thread, (unsigned)service->wish.tool);
	is_asked = service_is_wanted(service);
	if (is_asked)
		(void)guard_call(tool_choose, service);
	call_thread_leave_tool(thread, before);
	return is_asked;
}

static bool chooser_become(struct device_service *service)
{
	int32_t before = __atomic_load_n(&service->chooser, __ATOMIC_RELAXED);

	return !service_chooser(service) &&
	       __atomic_compare_exchange_n(&service->chooser, &before, (int32_t)raw0(SYS_gettid),
					   false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Call without the device turn. Calls the tool once for each start of its context, on the first
 * thread; again if the tool has left its callback without returning. */
static void service_choose(struct device_service *service)
{
	if (__atomic_load_n(&service->has_chosen, __ATOMIC_ACQUIRE) || !chooser_become(service))
		return;
	service->chooser_frame = (uint64_t)__builtin_frame_address(0);
	if (!__atomic_load_n(&service->has_chosen, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&service->config.handle, 0, __ATOMIC_RELAXED);
		/* Release: pairs with service_start(); publishes the chosen config. */
		__atomic_store_n(&service->has_chosen, config_choose(service), __ATOMIC_RELEASE);
	}
	__atomic_store_n(&service->chooser, 0, __ATOMIC_RELEASE);
}

static unsigned service_index(const struct device_service *service)
{
	return (unsigned)(service - services);
}

/* Call this and the next three functions with the device turn held. */
static int service_start(struct device_service *service)
{
	struct sdk_handle config;

	/* Acquire: pairs with service_choose(). */
	if (!__atomic_load_n(&service->has_chosen, __ATOMIC_ACQUIRE))
		return SDK_CONTEXT_ERROR;
	config.handle = __atomic_load_n(&service->config.handle, __ATOMIC_RELAXED);
	return device_counting_start(service_index(service), config);
}

/* Counting that starts with the context is not reported as a restart; with a read, it is. */
static void service_start_first(struct device_service *service)
{
	int r = service_start(service);

	__atomic_store_n(&service->fault, r, __ATOMIC_RELAXED);
	if (!r && !service->beginning)
		service->beginning = device_counting_beginning(service_index(service));
}

static void service_stop(struct device_service *service)
{
	service->beginning = 0;
	__atomic_store_n(&service->fault, SDK_SUCCESS, __ATOMIC_RELAXED);
	/* A thread still in the tool's callback will use the entry when it returns. */
	if (device_counting_end(service_index(service)) && service_is_orphan(service) &&
	    !service_chooser(service))
		__atomic_store_n(&service->is_set, 0, __ATOMIC_RELEASE);
}

static bool service_adjust(struct device_service *service)
{
	bool is_wanted = service_is_wanted(service);

	if (is_wanted)
		service_start_first(service);
	else
		service_stop(service);
	return is_wanted;
}

/* Repeats if another thread has changed the context meanwhile: that thread may have given up
 * waiting for the turn. */
static void service_follow(struct device_service *service)
{
	bool is_wanted;
	unsigned rounds = 0;

	do {
		/* Even if this thread does not get the turn, the next start calls the tool. */
		if (!service_is_wanted(service))
			__atomic_store_n(&service->has_chosen, 0, __ATOMIC_RELAXED);
		if (!device_turn_enter(TURN_NS))
			return;
		is_wanted = service_adjust(service);
		device_turn_leave();
	} while (service_is_wanted(service) != is_wanted && ++rounds < ROUNDS_MAX);
}

void device_services_follow(void)
{
	if (!page_is_own())
		return;
	for (unsigned i = 0; i < COUNTINGS_MAX; i++)
		if (service_is_set(&services[i]) && !service_is_choosing(&services[i]))
			service_follow(&services[i]);
}

/* Counting begins later if HSA does not run yet, calls do not lead to limpet yet, or the tool is
 * still choosing on another thread. */
static bool fault_is_early(int fault)
{
	return fault == SDK_HSA_NOT_LOADED || fault == SDK_CONTEXT_ERROR;
}

static int service_begin(struct device_service *service)
{
	int fault;

	service_choose(service);
	service_follow(service);
	fault = __atomic_load_n(&service->fault, __ATOMIC_RELAXED);
	return fault && !fault_is_early(fault) ? fault : SDK_SUCCESS;
}

int device_services_begin(unsigned context)
{
	int r = SDK_SUCCESS;

	for (unsigned i = 0; !r && page_is_own() && i < COUNTINGS_MAX; i++)
		if (service_is_of(&services[i], context) && !service_is_choosing(&services[i]))
			r = service_begin(&services[i]);
	return r;
}

static int service_add(const struct device_wish *wish)
{
	struct device_service *found = NULL;

	for (unsigned i = 0; i < COUNTINGS_MAX; i++) {
		if (service_is_of(&services[i], wish->context) &&
		    services[i].wish.agent.handle == wish->agent.handle)
			return SDK_INVALID_ARGUMENT;
		if (!service_is_set(&services[i]) && !found)
			found = &services[i];
	}
	if (!found)
		return SDK_OUT_OF_RESOURCES;
	found->wish = *wish;
	found->is_read = found->has_chosen = 0;
	found->chooser = found->fault = 0;
	found->beginning = 0;
	/* Release: pairs with service_is_set(). */
	__atomic_store_n(&found->is_set, 1, __ATOMIC_RELEASE);
	return SDK_SUCCESS;
}

int device_service_add(const struct device_wish *wish)
{
	int r;

	if (!device_turn_enter(TURN_NS))
		return SDK_CONTEXT_ERROR;
	r = service_add(wish);
	device_turn_leave();
	return r;
}

/* Has counting restarted since the last report? True once: from then on the tool counts from 0. */
static bool service_was_interrupted(struct device_service *service)
{
	uint32_t beginning = device_counting_beginning(service_index(service));
	bool is_other = service->beginning != beginning;

	service->beginning = beginning;
	return is_other;
}

static int service_read(struct device_service *service, struct counter_records *ret)
{
	int r;

	if (!service_is_wanted(service))
		return SDK_CONTEXT_INVALID;
	r = service_start(service);
	__atomic_store_n(&service->fault, r, __ATOMIC_RELAXED);
	/* A tool that has chosen nothing for this agent gets no values of it. */
	if (r || !device_counting_is_there(service_index(service)))
		return r;
	if (service_was_interrupted(service))
		return SDK_HSA_NOT_LOADED;
	return device_counting_read(service_index(service), ret);
}

static int service_read_in_turn(struct device_service *service, struct counter_records *ret)
{
	int r;

	service_choose(service);
	if (!device_turn_enter_last(TURN_NS))
		return SDK_CONTEXT_ERROR;
	r = service_read(service, ret);
	device_turn_leave();
	/* A thread that has stopped the context meanwhile may not have waited for the turn. */
	if (!service_is_wanted(service))
		service_follow(service);
	return r;
}

/* One thread at a time. */
static int service_take(struct device_service *service, struct counter_records *records)
{
	int r;

	records->count = 0;
	if (service_is_choosing(service) ||
	    __atomic_exchange_n(&service->is_read, 1, __ATOMIC_ACQUIRE))
		return SDK_CONTEXT_ERROR;
	r = service_read_in_turn(service, records);
	__atomic_store_n(&service->is_read, 0, __ATOMIC_RELEASE);
	return r;
}

int device_services_read(unsigned context, struct counter_records *records, device_take *take,
			 void *data)
{
	int r = SDK_CONTEXT_INVALID;

	if (!page_is_own())
		return SDK_NOT_AVAILABLE;
	for (unsigned i = 0; i < COUNTINGS_MAX; i++) {
		struct device_wish wish;

		if (!service_is_of(&services[i], context))
			continue;
		wish = services[i].wish;
		r = service_take(&services[i], records);
		if (!r)
			r = take(&wish, records, data);
		if (r)
			return r;
	}
	return r;
}

void device_services_adopt(void)
{
	for (unsigned i = 0; i < COUNTINGS_MAX; i++) {
		services[i].is_read = services[i].has_chosen = 0;
		services[i].chooser = services[i].fault = 0;
		services[i].beginning = 0;
	}
	device_countings_adopt();
	device_turn_adopt();
}
