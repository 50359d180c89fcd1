/*
 * The services that tools configure in their contexts. Runs on the runner's thread, while the tool
 * is configured or initialized.
 */
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/status.h"

#define SETS_MAX 256u

static struct operation_set sets[SETS_MAX];
static unsigned set_count;

/* Kinds that have names but no records: docs/sdk.md says why. */
static const uint8_t unserved_callbacks[] = {
	CALLBACK_SCRATCH,
	CALLBACK_OMPT,
};
static const uint8_t unserved_buffers[] = {
	BUFFER_OMPT,
	BUFFER_KFD_EVENT_MIGRATE,
	BUFFER_KFD_EVENT_FAULT,
	BUFFER_KFD_EVENT_QUEUE,
	BUFFER_KFD_EVENT_UNMAP,
	BUFFER_KFD_EVENT_DROPPED,
	BUFFER_KFD_MIGRATE,
	BUFFER_KFD_FAULT,
	BUFFER_KFD_QUEUE,
};

static bool is_listed(const uint8_t *list, size_t count, int kind)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == kind)
			return true;
	return false;
}

/* Returns SDK_SUCCESS; *ret is NULL if all operations are selected. */
static int make_set(const int32_t *operations, size_t count, const struct operation_set **ret)
{
	struct operation_set *set = &sets[set_count];

	*ret = NULL;
	if (!count)
		return SDK_SUCCESS;
	if (!operations)
		return SDK_INVALID_ARGUMENT;
	if (set_count == SETS_MAX)
		return SDK_OUT_OF_RESOURCES;
	*set = (struct operation_set){ { 0 } };
	for (size_t i = 0; i < count; i++) {
		if (operations[i] < 0 || operations[i] >= OPERATIONS_MAX)
			return SDK_OPERATION_NOT_FOUND;
		set->bits[operations[i] / 64] |= 1ull << operations[i] % 64;
	}
	set_count++;
	*ret = set;
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_configure_callback_tracing_service(struct limpet_context id, int kind,
							      const int32_t *operations,
							      size_t count,
							      callback_function *callback,
							      void *data);
SDK_EXPORT int rocprofiler_configure_buffer_tracing_service(struct limpet_context id, int kind,
							    const int32_t *operations, size_t count,
							    struct sdk_handle buffer);
SDK_EXPORT int rocprofiler_configure_external_correlation_id_request_service(
	struct limpet_context id, const int32_t *kinds, size_t count, request_function *callback,
	void *data);

int rocprofiler_configure_callback_tracing_service(struct limpet_context id, int kind,
						   const int32_t *operations, size_t count,
						   callback_function *callback, void *data)
{
	const struct operation_set *set;
	struct sdk_context *context;
	int r = context_find_open(id, &context);

	if (r)
		return r;
	if (kind <= 0 || kind >= CALLBACK_KINDS)
		return SDK_KIND_NOT_FOUND;
	if (is_listed(unserved_callbacks, ARRAY_SIZE(unserved_callbacks), kind))
		return SDK_NOT_IMPLEMENTED;
	if (!callback)
		return SDK_INVALID_ARGUMENT;
	if (context->callbacks[kind].callback)
		return SDK_SERVICE_ALREADY_CONFIGURED;
	r = make_set(operations, count, &set);
	if (!r)
		context->callbacks[kind] = (struct callback_service){ callback, data, set };
	return r;
}

int rocprofiler_configure_buffer_tracing_service(struct limpet_context id, int kind,
						 const int32_t *operations, size_t count,
						 struct sdk_handle buffer)
{
	const struct operation_set *set;
	struct sdk_context *context;
	int r = context_find_open(id, &context);

	if (r)
		return r;
	if (kind <= 0 || kind >= BUFFER_KINDS)
		return SDK_KIND_NOT_FOUND;
	if (is_listed(unserved_buffers, ARRAY_SIZE(unserved_buffers), kind))
		return SDK_NOT_IMPLEMENTED;
	if (!buffer.handle)
		return SDK_BUFFER_NOT_FOUND;
	if (context->buffers[kind].buffer.handle)
		return SDK_SERVICE_ALREADY_CONFIGURED;
	r = make_set(operations, count, &set);
	if (!r)
		context->buffers[kind] = (struct buffer_service){ buffer, set };
	return r;
}

int rocprofiler_configure_external_correlation_id_request_service(struct limpet_context id,
								  const int32_t *kinds,
								  size_t count,
								  request_function *callback,
								  void *data)
{
	struct sdk_context *context;
	uint32_t wanted = count ? 0 : UINT32_MAX;
	int r = context_find_open(id, &context);

	if (r)
		return r;
	if (!callback || (count && !kinds))
		return SDK_INVALID_ARGUMENT;
	if (context->request)
		return SDK_SERVICE_ALREADY_CONFIGURED;
	for (size_t i = 0; i < count; i++) {
		if (kinds[i] <= 0 || kinds[i] >= REQUEST_KINDS)
			return SDK_KIND_NOT_FOUND;
		wanted |= 1u << kinds[i];
	}
	context->request_kinds = wanted;
	context->request_data = data;
	context->request = callback;
	return SDK_SUCCESS;
}
