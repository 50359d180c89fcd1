/*
 * Tools of AMD's SDK that do nothing with what they are told: by callbacks, or (BUFFERED) by a
 * buffer.
 */
#include "../tests/sdk/sdk_tool.h"

static handle_t context;

#ifdef BUFFERED
static handle_t buffer;

static void on_records(handle_t which, handle_t id, header_t **headers, size_t count, void *data,
		       uint64_t drops)
{
	(void)which, (void)id, (void)headers, (void)count, (void)data, (void)drops;
}
#else
static void on_call(record_t record, uint64_t *user_data, void *data)
{
	(void)record, (void)user_data, (void)data;
}
#endif

static int initialize(void (*finalize)(client_t), void *data)
{
	(void)finalize, (void)data;
	if (rocprofiler_create_context(&context))
		return 1;
#ifdef BUFFERED
	return rocprofiler_create_buffer(context, 16 << 20, 8 << 20, POLICY_DISCARD, on_records,
					 NULL, &buffer) ||
	       rocprofiler_configure_buffer_tracing_service(context, HIP_RUNTIME, NULL, 0,
							    buffer) ||
	       rocprofiler_start_context(context);
#else
	return rocprofiler_configure_callback_tracing_service(context, HIP_RUNTIME, NULL, 0,
							      on_call, NULL) ||
	       rocprofiler_start_context(context);
#endif
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, NULL, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "bench";
	return &tool;
}
