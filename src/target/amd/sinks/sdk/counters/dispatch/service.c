/*
 * Services are configured on the runner's thread, and read by every thread.
 */
#include "target/amd/sinks/sdk/counters/dispatch/service.h"

#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/buffers/buffer.h"

#define SERVICES_MAX 64u

static struct dispatch_service services[SERVICES_MAX];
static uint32_t last_life;
static uint32_t kept_life;    /* of the service that the engine works for */
static uint32_t hushed_tools; /* bits */

static bool service_is_set(const struct dispatch_service *service)
{
	/* Acquire: pairs with service_add(). */
	return __atomic_load_n(&service->is_set, __ATOMIC_ACQUIRE);
}

static bool service_is_of(const struct dispatch_service *service, unsigned context)
{
	return service_is_set(service) && service->context == context &&
	       service->context_life == sdk_contexts[context].life;
}

static bool service_is_active(const struct dispatch_service *service)
{
	return service_is_of(service, service->context) &&
	       context_state(&sdk_contexts[service->context]) == CONTEXT_ACTIVE;
}

void dispatch_service_keep(uint32_t life)
{
	__atomic_store_n(&kept_life, life, __ATOMIC_RELAXED);
}

struct dispatch_service *dispatch_service_active(void)
{
	struct dispatch_service *kept =
		dispatch_service_of(__atomic_load_n(&kept_life, __ATOMIC_RELAXED));

	if (kept && service_is_active(kept))
		return kept;
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_active(&services[i]))
			return &services[i];
	return NULL;
}

struct dispatch_service *dispatch_service_of(uint32_t life)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_set(&services[i]) && services[i].life == life)
			return &services[i];
	return NULL;
}

bool dispatch_service_has_other(unsigned context)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_active(&services[i]) && services[i].context != context)
			return true;
	return false;
}

bool dispatch_service_is_of(unsigned context)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_of(&services[i], context))
			return true;
	return false;
}

/* Sequential: pairs with dispatch_services_hush(); detaching then waits for threads inside. */
bool dispatch_service_may_call(const struct dispatch_service *service)
{
	return !(__atomic_load_n(&hushed_tools, __ATOMIC_SEQ_CST) >> service->tool & 1) &&
	       service_is_of(service, service->context) &&
	       context_state(&sdk_contexts[service->context]) >= CONTEXT_STOPPED;
}

void dispatch_services_hush(int tool, bool is_hushed)
{
	if (is_hushed)
		__atomic_fetch_or(&hushed_tools, 1u << tool, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(&hushed_tools, ~(1u << tool), __ATOMIC_SEQ_CST);
}

void dispatch_services_forget(int tool)
{
	for (unsigned i = 0; i < SERVICES_MAX; i++)
		if (service_is_set(&services[i]) && services[i].tool == tool)
			__atomic_store_n(&services[i].is_set, 0, __ATOMIC_SEQ_CST);
	/* Another tool may get its number. */
	dispatch_services_hush(tool, false);
}

static int service_add(struct limpet_context id, const struct dispatch_service *wish)
{
	struct sdk_context *context;
	int r = context_find_open(id, &context), thread;

	if (r)
		return r;
	if (dispatch_service_is_of(context_index(id)))
		return SDK_SERVICE_ALREADY_CONFIGURED;
	thread = delivery_begin(context->tool);
	if (thread < 0)
		return SDK_ERROR;
	for (unsigned i = 0; i < SERVICES_MAX; i++) {
		if (service_is_set(&services[i]))
			continue;
		services[i] = *wish;
		services[i].life = ++last_life;
		services[i].context = context_index(id);
		services[i].context_life = context->life;
		services[i].tool = context->tool;
		services[i].thread = (uint32_t)thread;
		context->counts_kernels = true;
		/* Release: pairs with service_is_set(). */
		__atomic_store_n(&services[i].is_set, 1, __ATOMIC_RELEASE);
		return SDK_SUCCESS;
	}
	return SDK_OUT_OF_RESOURCES;
}

SDK_EXPORT int rocprofiler_configure_callback_dispatch_counting_service(
	struct limpet_context context, dispatch_function *choose, void *choose_data,
	dispatch_record_function *record, void *record_data);
SDK_EXPORT int rocprofiler_configure_buffer_dispatch_counting_service(struct limpet_context context,
								      struct sdk_handle buffer,
								      dispatch_function *choose,
								      void *choose_data);

int rocprofiler_configure_callback_dispatch_counting_service(struct limpet_context context,
							     dispatch_function *choose,
							     void *choose_data,
							     dispatch_record_function *record,
							     void *record_data)
{
	if (!choose || !record)
		return SDK_INVALID_ARGUMENT;
	return service_add(context, &(struct dispatch_service){ .choose = choose,
								.choose_data = choose_data,
								.record = record,
								.record_data = record_data });
}

int rocprofiler_configure_buffer_dispatch_counting_service(struct limpet_context context,
							   struct sdk_handle buffer,
							   dispatch_function *choose,
							   void *choose_data)
{
	if (!choose)
		return SDK_INVALID_ARGUMENT;
	if (!buffer_find(buffer))
		return SDK_BUFFER_NOT_FOUND;
	return service_add(context, &(struct dispatch_service){ .buffer = buffer,
								.choose = choose,
								.choose_data = choose_data });
}
