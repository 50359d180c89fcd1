/*
 * Configured on a thread of the runner's; started, read and stopped on threads of tools, or where a
 * tool is attached and detached.  One at a time for each service.
 */
#include "target/sdk/counters/device_service.h"

#include "shared/arch/syscall.h"
#include "target/runtime/page.h"
#include "target/runtime/patience.h"
#include "target/runtime/text.h"
#include "target/sdk/contexts.h"
#include "target/sdk/counters/device_queue.h"
#include "target/sdk/guard.h"
#include "target/sdk/status.h"
#include "target/sdk/tables/intercept.h"

#include <sys/mman.h>

#define SERVICES_MAX 64u
#define RECORDS_MAX  8192u
#define STEP_NS      1500000000ull
#define STOP_NS      500000000ull
#define TURN_NS      4000000000ull
#define GLANCE_NS    100000u
#define ROUNDS_MAX   8u

/* While it counts. */
struct device_counting {
	struct device_queue queue;
	struct counter_record records[RECORDS_MAX];
	char memory[EVALUATION_BYTES];
};

struct device_service {
	uint32_t is_set; /* the wish is filled in */
	struct device_wish wish;
	int32_t chooser;  /* the thread that is in the tool's callback; 0: none */
	uint32_t waiting; /* threads */
	uint32_t is_busy; /* whoever sets it owns what follows */
	uint32_t has_chosen;
	struct sdk_handle config;         /* that the tool has chosen; 0: none */
	struct device_counting *counting; /* NULL: there is none */
	uint32_t is_left;                 /* its device does not answer */
	int32_t fault;
};

static struct device_service services[SERVICES_MAX];

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

static bool service_try(struct device_service *service)
{
	return !__atomic_exchange_n(&service->is_busy, 1, __ATOMIC_SEQ_CST);
}

/* Who starts or stops it goes before those who read, again and again. */
static bool service_enter(struct device_service *service)
{
	struct patience patience = { 0 };
	bool is_mine;

	__atomic_fetch_add(&service->waiting, 1, __ATOMIC_RELAXED);
	do
		is_mine = service_try(service);
	while (!is_mine && patience_pause(&patience, GLANCE_NS, TURN_NS));
	__atomic_fetch_sub(&service->waiting, 1, __ATOMIC_RELAXED);
	return is_mine;
}

static bool service_enter_to_read(struct device_service *service)
{
	return !__atomic_load_n(&service->waiting, __ATOMIC_RELAXED) && service_try(service);
}

static void service_leave(struct device_service *service)
{
	__atomic_store_n(&service->is_busy, 0, __ATOMIC_SEQ_CST);
}

/* By the thread itself. */
static bool service_is_choosing(const struct device_service *service)
{
	return __atomic_load_n(&service->chooser, __ATOMIC_RELAXED) == (int32_t)raw0(SYS_gettid);
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
		    !service_is_choosing(service))
			continue;
		if (service->wish.agent.handle == found->agent.handle) {
			service->config = config;
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

/* In one's turn, as all below up to service_follow().  Once for each start of its context. */
static void config_choose(struct device_service *service)
{
	if (service->has_chosen)
		return;
	service->has_chosen = 1;
	service->config.handle = 0;
	__atomic_store_n(&service->chooser, (int32_t)raw0(SYS_gettid), __ATOMIC_RELAXED);
	(void)guard_call(tool_choose, service);
	__atomic_store_n(&service->chooser, 0, __ATOMIC_RELAXED);
}

static void memory_free(struct device_service *service)
{
	struct device_counting *counting = service->counting;

	/* First: a forked child finds what is not there any more. */
	__atomic_store_n(&service->counting, NULL, __ATOMIC_SEQ_CST);
	raw2(SYS_munmap, counting, sizeof(*counting));
}

static int memory_make(struct device_service *service)
{
	long address = raw6(SYS_mmap, 0, sizeof(*service->counting), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (address < 0 && address > -4096)
		return SDK_OUT_OF_RESOURCES;
	__atomic_store_n(&service->counting, (struct device_counting *)address, __ATOMIC_SEQ_CST);
	return SDK_SUCCESS;
}

/* A device has one set of counters: who starts them anew takes them from the one before.  Of two at
 * the same time both go without. */
static bool agent_is_taken(const struct device_service *service)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (&services[i] != service && service_is_set(&services[i]) &&
		    services[i].wish.agent.handle == service->wish.agent.handle &&
		    __atomic_load_n(&services[i].counting, __ATOMIC_SEQ_CST))
			return true;
	return false;
}

/* What the device has not done stays, for the next time. */
static void counting_end(struct device_service *service, uint64_t limit_ns)
{
	service->is_left = device_queue_close(&service->counting->queue, limit_ns) == DEVICE_LATE;
	if (!service->is_left)
		memory_free(service);
}

static int counting_open(struct device_service *service, const struct counter_config *config)
{
	struct device_queue *queue = &service->counting->queue;
	int r = agent_is_taken(service) ? SDK_CONTEXT_CONFLICT : device_queue_open(queue, config);
	enum device_answer answer;

	if (r) {
		memory_free(service);
		return r;
	}
	answer = device_queue_step(queue, STEP_START, STEP_NS);
	if (answer == DEVICE_DONE)
		return SDK_SUCCESS;
	counting_end(service, 0);
	return answer == DEVICE_GONE ? SDK_HSA_NOT_LOADED : SDK_ERROR;
}

/* Waves of queues whose own bit does not say so are invisible to it, and nobody sets that here: it
 * would count nothing, which is not 0. */
static bool config_counts_waves(const struct counter_config *config)
{
	const struct catalog_event *events = catalog_list(config->catalog, CATALOG_EVENTS);

	for (uint32_t i = 0; i < config->event_count; i++)
		if (text_equal(catalog_text(config->catalog, events[config->events[i]].block),
			       "SQ"))
			return true;
	return false;
}

static int counting_start(struct device_service *service)
{
	const struct counter_config *config = config_find(service->config);
	int r;

	if (!config)
		return SDK_PROFILE_NOT_FOUND;
	if (config_counts_waves(config))
		return SDK_NOT_AVAILABLE;
	r = memory_make(service);
	return r ? r : counting_open(service, config);
}

/* What was left is looked at again: the device may be done by now, or its runtime gone. */
static void service_start(struct device_service *service)
{
	if (service->counting &&
	    (service->is_left || !device_queue_is_there(&service->counting->queue)))
		counting_end(service, 0);
	if (service->counting)
		return;
	config_choose(service);
	service->fault = service->config.handle ? counting_start(service) : SDK_SUCCESS;
}

static void service_stop(struct device_service *service)
{
	service->has_chosen = 0;
	service->config.handle = 0;
	service->fault = SDK_SUCCESS;
	if (service->counting)
		counting_end(service, service->is_left ? 0 : STOP_NS);
}

/* Whoever changes a context while another is at it here is seen by him afterwards, so that nobody
 * waits for a tool's callback for good. */
static void service_follow(struct device_service *service)
{
	bool is_wanted;
	unsigned rounds = 0;

	do {
		if (!service_enter(service))
			return;
		is_wanted = service_is_wanted(service);
		if (is_wanted)
			service_start(service);
		else
			service_stop(service);
		service_leave(service);
	} while (service_is_wanted(service) != is_wanted && ++rounds < ROUNDS_MAX);
}

void device_service_follow(int forgotten)
{
	if (!page_is_own())
		return;
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		struct device_service *service = &services[i];

		if (!service_is_set(service) || service_is_choosing(service))
			continue;
		service_follow(service);
		if (forgotten >= 0 && service->wish.tool == forgotten && !service->counting)
			__atomic_store_n(&service->is_set, 0, __ATOMIC_RELEASE);
	}
}

/* Where HSA does not run yet, or calls do not lead to us yet, counting begins later. */
static bool service_is_early(const struct device_service *service)
{
	return service->fault == SDK_HSA_NOT_LOADED ||
	       (service->fault == SDK_NO_PROFILE_QUEUE && !intercept_is_for(service->wish.tool));
}

int device_service_fault(unsigned context)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_of(&services[i], context) && services[i].fault &&
		    !service_is_early(&services[i]))
			return services[i].fault;
	return SDK_SUCCESS;
}

bool device_service_is_left(void)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_set(&services[i]) && (services[i].counting || services[i].is_busy))
			return true;
	return false;
}

void device_service_adopt(void)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		struct device_service *service = &services[i];

		if (service->counting)
			memory_free(service);
		service->is_busy = service->waiting = 0;
		service->has_chosen = service->is_left = 0;
		service->chooser = 0;
	}
	device_queues_adopt();
}

int device_service_add(const struct device_wish *wish)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_of(&services[i], wish->context) &&
		    services[i].wish.agent.handle == wish->agent.handle)
			return SDK_SERVICE_ALREADY_CONFIGURED;
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		if (service_is_set(&services[i]))
			continue;
		services[i] = (struct device_service){ .wish = *wish };
		__atomic_store_n(&services[i].is_set, 1, __ATOMIC_RELEASE);
		return SDK_SUCCESS;
	}
	return SDK_OUT_OF_RESOURCES;
}

static int counting_read(struct device_service *service, struct counter_records *ret)
{
	struct device_counting *counting = service->counting;
	enum device_answer answer = device_queue_step(&counting->queue, STEP_READ, STEP_NS);

	*ret = (struct counter_records){ .items = counting->records, .room = RECORDS_MAX };
	if (answer == DEVICE_GONE || answer == DEVICE_BROKEN)
		counting_end(service, 0);
	if (answer)
		return answer == DEVICE_GONE ? SDK_HSA_NOT_LOADED : SDK_ERROR;
	if (!counting->queue.is_whole)
		return SDK_ERROR;
	counters_evaluate(&counting->queue.packets, counting->memory, ret);
	return ret->is_cut ? SDK_OUT_OF_RESOURCES : SDK_SUCCESS;
}

static int service_read(struct device_service *service, struct counter_records *ret)
{
	if (!service_is_wanted(service))
		return SDK_CONTEXT_INVALID;
	service_start(service);
	if (service->counting && !service->is_left)
		return counting_read(service, ret);
	return service->fault ? service->fault : SDK_PROFILE_NOT_FOUND;
}

static int service_take(struct device_service *service, device_take *take, void *data)
{
	struct counter_records records;
	int r;

	if (service_is_choosing(service) || !service_enter_to_read(service))
		return SDK_SAMPLE_RATE_EXCEEDED;
	r = service_read(service, &records);
	if (!r)
		r = take(&service->wish, &records, data);
	service_leave(service);
	/* Whoever has stopped its context meanwhile may not have waited. */
	if (!service_is_wanted(service))
		service_follow(service);
	return r;
}

int device_service_read(unsigned context, device_take *take, void *data)
{
	int r = SDK_CONTEXT_INVALID;

	if (!page_is_own())
		return SDK_NOT_AVAILABLE;
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		if (!service_is_of(&services[i], context))
			continue;
		r = service_take(&services[i], take, data);
		if (r)
			return r;
	}
	return r;
}
