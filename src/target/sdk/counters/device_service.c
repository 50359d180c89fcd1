/*
 * Configured on a thread of the runner's; started, read and stopped on threads of tools, or where a
 * tool is detached.  One at a time for each service.
 */
#include "target/sdk/counters/device_service.h"

#include "shared/arch/syscall.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/patience.h"
#include "target/sdk/buffers/buffers.h"
#include "target/sdk/contexts.h"
#include "target/sdk/counters/device_queue.h"
#include "target/sdk/counters/evaluate.h"
#include "target/sdk/guard.h"
#include "target/sdk/status.h"

#include <sys/mman.h>

#define SERVICES_MAX 64u
#define RECORDS_MAX  8192u
#define STEP_NS      2000000000ull
#define TURN_NS      4000000000ull
#define GLANCE_NS    100000u

enum { FLAG_NONE, FLAG_ASYNC };

typedef int set_config_function(struct limpet_context context, struct sdk_handle config);
typedef void choose_function(struct limpet_context context, struct sdk_handle agent,
			     set_config_function *set_config, void *data);

/* While it counts. */
struct device_counting {
	struct device_queue queue;
	struct counter_record records[RECORDS_MAX];
	char memory[EVALUATION_BYTES];
};

struct device_service {
	uint32_t is_set; /* the rest is filled in */
	uint32_t is_busy;
	uint32_t context, context_life;
	struct sdk_handle agent, buffer;
	choose_function *choose;
	void *data;
	uint32_t is_choosing;
	struct sdk_handle config;         /* that the tool has chosen; 0: none */
	struct device_counting *counting; /* NULL: it does not */
	uint32_t hsa_life;                /* of the runtime that has the queue */
	uint32_t is_left;                 /* its device does not answer */
	int32_t fault;
};

static struct device_service services[SERVICES_MAX];

static bool service_is_set(const struct device_service *service)
{
	/* Acquire: pairs with service_take(). */
	return __atomic_load_n(&service->is_set, __ATOMIC_ACQUIRE);
}

static bool service_is_of(const struct device_service *service, unsigned context)
{
	return service_is_set(service) && service->context == context &&
	       service->context_life == sdk_contexts[context].life;
}

static bool service_is_wanted(const struct device_service *service)
{
	return service_is_of(service, service->context) &&
	       context_state(&sdk_contexts[service->context]) == CONTEXT_ACTIVE;
}

static bool service_enter(struct device_service *service, uint64_t limit_ns)
{
	struct patience patience = { 0 };

	while (__atomic_exchange_n(&service->is_busy, 1, __ATOMIC_ACQUIRE))
		if (!limit_ns || !patience_pause(&patience, GLANCE_NS, limit_ns))
			return false;
	return true;
}

static void service_leave(struct device_service *service)
{
	__atomic_store_n(&service->is_busy, 0, __ATOMIC_RELEASE);
}

/* For the tool's callback, while its context starts. */
static int set_config(struct limpet_context context, struct sdk_handle config)
{
	const struct counter_config *found = config_find(config);
	int r = SDK_CONFIGURATION_LOCKED;

	if (!context_find(context))
		return SDK_CONTEXT_INVALID;
	if (!found)
		return SDK_PROFILE_NOT_FOUND;
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		struct device_service *service = &services[i];

		if (!service_is_of(service, context_index(context)) ||
		    !__atomic_load_n(&service->is_choosing, __ATOMIC_RELAXED))
			continue;
		if (service->agent.handle == found->agent.handle) {
			service->config = config;
			return SDK_SUCCESS;
		}
		r = SDK_AGENT_MISMATCH;
	}
	return r;
}

static void config_choose(void *argument)
{
	struct device_service *service = argument;

	service->choose((struct limpet_context){ service->context + 1 }, service->agent, set_config,
			service->data);
}

static void memory_free(struct device_service *service)
{
	raw2(SYS_munmap, service->counting, sizeof(*service->counting));
	service->counting = NULL;
}

static int memory_make(struct device_service *service)
{
	long address = raw6(SYS_mmap, 0, sizeof(*service->counting), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (address < 0 && address > -4096)
		return SDK_OUT_OF_RESOURCES;
	service->counting = (struct device_counting *)address;
	return SDK_SUCCESS;
}

/* With the runtime there. */
static int counting_begin(struct device_service *service, const struct counter_config *config)
{
	int r = device_queue_open(&service->counting->queue, config);

	if (r)
		return r;
	service->hsa_life = hsa_life();
	if (device_queue_step(&service->counting->queue, STEP_START, STEP_NS))
		return SDK_SUCCESS;
	service->is_left = !device_queue_close(&service->counting->queue, 0);
	return SDK_ERROR;
}

static int counting_start(struct device_service *service)
{
	const struct counter_config *config = config_find(service->config);
	int r;

	if (!config)
		return SDK_PROFILE_NOT_FOUND;
	if (!hsa_gate_enter())
		return SDK_HSA_NOT_LOADED;
	r = memory_make(service);
	if (!r) {
		r = counting_begin(service, config);
		if (r && !service->is_left)
			memory_free(service);
	}
	hsa_gate_leave();
	return r;
}

/* The runtime that has its queue is no more, and the queue with it. */
static bool counting_is_over(const struct device_service *service)
{
	return hsa_life_is_over() || hsa_life() != service->hsa_life;
}

static void counting_stop(struct device_service *service)
{
	struct device_queue *queue = &service->counting->queue;

	if (hsa_gate_enter()) {
		if (!counting_is_over(service)) {
			(void)(service->is_left || device_queue_step(queue, STEP_STOP, STEP_NS));
			service->is_left =
				!device_queue_close(queue, service->is_left ? 0 : STEP_NS);
		} else {
			service->is_left = false;
		}
		hsa_gate_leave();
	}
	if (!service->is_left)
		memory_free(service);
}

/* What was left is looked at again: the device may be done by now. */
static void service_start(struct device_service *service)
{
	if (service->counting && service->is_left)
		counting_stop(service);
	if (service->counting)
		return;
	service->config.handle = 0;
	__atomic_store_n(&service->is_choosing, 1, __ATOMIC_RELAXED);
	(void)guard_call(config_choose, service);
	__atomic_store_n(&service->is_choosing, 0, __ATOMIC_RELAXED);
	service->fault = service->config.handle ? counting_start(service) : SDK_SUCCESS;
}

static void service_follow(struct device_service *service)
{
	bool is_wanted = service_is_wanted(service);

	if (is_wanted == (service->counting && !service->is_left))
		return;
	if (!service_enter(service, TURN_NS))
		return;
	if (is_wanted)
		service_start(service);
	else if (service->counting)
		counting_stop(service);
	service_leave(service);
}

void device_service_follow(int forgotten)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		struct device_service *service = &services[i];

		if (!service_is_set(service) ||
		    __atomic_load_n(&service->is_choosing, __ATOMIC_RELAXED))
			continue;
		service_follow(service);
		if (forgotten >= 0 && sdk_contexts[service->context].tool == forgotten &&
		    !service->counting)
			__atomic_store_n(&service->is_set, 0, __ATOMIC_RELEASE);
	}
}

/* Where HSA does not run yet, counting begins with the first read. */
int device_service_fault(unsigned context)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_of(&services[i], context) && services[i].fault &&
		    services[i].fault != SDK_HSA_NOT_LOADED)
			return services[i].fault;
	return SDK_SUCCESS;
}

bool device_service_is_left(void)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_set(&services[i]) && services[i].counting)
			return true;
	return false;
}

void device_service_adopt(void)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		services[i].counting = NULL;
		services[i].is_busy = services[i].is_choosing = services[i].is_left = 0;
	}
}

static int service_take(unsigned context, const struct device_service *made)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_of(&services[i], context) &&
		    services[i].agent.handle == made->agent.handle)
			return SDK_SERVICE_ALREADY_CONFIGURED;
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		if (service_is_set(&services[i]))
			continue;
		services[i] = *made;
		__atomic_store_n(&services[i].is_set, 1, __ATOMIC_RELEASE);
		return SDK_SUCCESS;
	}
	return SDK_OUT_OF_RESOURCES;
}

SDK_EXPORT int rocprofiler_configure_device_counting_service(struct limpet_context context,
							     struct sdk_handle buffer,
							     struct sdk_handle agent,
							     choose_function *choose, void *data);
SDK_EXPORT int rocprofiler_sample_device_counting_service(struct limpet_context context,
							  uint64_t user_data, int flags,
							  struct counter_record *records,
							  size_t *count);

int rocprofiler_configure_device_counting_service(struct limpet_context context,
						  struct sdk_handle buffer, struct sdk_handle agent,
						  choose_function *choose, void *data)
{
	struct sdk_context *found;
	int r = context_find_open(context, &found);

	if (r)
		return r;
	if (!choose)
		return SDK_INVALID_ARGUMENT;
	if (!counters_know_agent(agent))
		return SDK_AGENT_NOT_FOUND;
	return service_take(context_index(context),
			    &(struct device_service){ .context = context_index(context),
						      .context_life = found->life,
						      .agent = agent,
						      .buffer = buffer,
						      .choose = choose,
						      .data = data });
}

/* With the runtime there; into the service's own records. */
static int counting_read(struct device_service *service, struct counter_records *ret)
{
	struct device_counting *counting = service->counting;

	*ret = (struct counter_records){ .items = counting->records, .room = RECORDS_MAX };
	if (counting_is_over(service))
		return SDK_HSA_NOT_LOADED;
	if (!device_queue_step(&counting->queue, STEP_READ, STEP_NS) ||
	    !packets_read(&counting->queue.packets))
		return SDK_ERROR;
	counters_evaluate(&counting->queue.packets, counting->memory, ret);
	return ret->is_cut ? SDK_OUT_OF_RESOURCES : SDK_SUCCESS;
}

/* In its turn. */
static int service_read(struct device_service *service, struct counter_records *ret)
{
	int r;

	if (service->counting && counting_is_over(service))
		counting_stop(service);
	if (!service->counting) {
		service_start(service);
		if (!service->counting)
			return service->fault ? service->fault : SDK_PROFILE_NOT_FOUND;
	}
	if (!hsa_gate_enter())
		return SDK_HSA_NOT_LOADED;
	r = counting_read(service, ret);
	hsa_gate_leave();
	return r;
}

/* Where the tool wants them: in its own memory, or in the buffer. */
struct records_target {
	struct counter_record *items;
	size_t count, room;
	uint64_t user_data;
};

static int records_hand_over(const struct device_service *service,
			     const struct counter_records *records, struct records_target *target)
{
	for (size_t i = 0; i < records->count; i++) {
		records->items[i].user_data = target->user_data;
		if (!target->items && service->buffer.handle)
			buffer_write_counter(service->buffer, COUNTER_VALUE, &records->items[i],
					     sizeof(records->items[i]));
		if (!target->items)
			continue;
		if (target->count == target->room)
			return SDK_OUT_OF_RESOURCES;
		target->items[target->count++] = records->items[i];
	}
	return SDK_SUCCESS;
}

static int service_sample(struct device_service *service, struct records_target *target)
{
	struct counter_records records;
	int r;

	if (!service_enter(service, 0))
		return SDK_CONTEXT_ERROR;
	r = service_read(service, &records);
	if (!r)
		r = records_hand_over(service, &records, target);
	service_leave(service);
	return r;
}

/* What is asked for without waiting is waited for as well: it is there sooner than wanted. */
int rocprofiler_sample_device_counting_service(struct limpet_context context, uint64_t user_data,
					       int flags, struct counter_record *records,
					       size_t *count)
{
	const struct sdk_context *found = context_find(context);
	struct records_target target = { records, 0, records && count ? *count : 0, user_data };
	int r = SDK_CONTEXT_INVALID;

	if (!found || context_state(found) != CONTEXT_ACTIVE)
		return SDK_CONTEXT_INVALID;
	if (records && (flags == FLAG_ASYNC || !count))
		return SDK_INVALID_ARGUMENT;
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		if (!service_is_of(&services[i], context_index(context)))
			continue;
		r = service_sample(&services[i], &target);
		if (r)
			return r;
	}
	if (count)
		*count = target.count;
	return r;
}
