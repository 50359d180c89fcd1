/*
 * A tool with external correlation ids: pushed in one context, asked for in another.
 */
#include "sdk_tool.h"

#include <sys/syscall.h>
#include <unistd.h>

static handle_t pushed, asked, buffer;
static uint64_t pushed_right, pushed_wrong, asked_right, asked_wrong, requests, records;

static void on_pushed(record_t record, uint64_t *user_data, void *data)
{
	uint64_t value = 0;

	(void)data;
	if (record.phase == PHASE_ENTER) {
		*user_data = record.correlation.internal + 1000;
		MUST(rocprofiler_push_external_correlation_id(pushed, record.thread, *user_data));
		return;
	}
	if (record.correlation.external == *user_data)
		__atomic_add_fetch(&pushed_right, 1, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&pushed_wrong, 1, __ATOMIC_RELAXED);
	MUST(rocprofiler_pop_external_correlation_id(pushed, record.thread, &value));
	if (value != *user_data)
		__atomic_add_fetch(&pushed_wrong, 1, __ATOMIC_RELAXED);
}

static int on_request(uint64_t thread, handle_t context, int kind, int operation, uint64_t internal,
		      uint64_t *external, void *data)
{
	if (thread != (uint64_t)syscall(SYS_gettid) || context.handle != asked.handle ||
	    kind != HIP_RUNTIME || operation < 0 || data != &asked)
		return 1;
	__atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
	*external = internal * 3;
	return 0;
}

static void on_asked(record_t record, uint64_t *user_data, void *data)
{
	(void)user_data, (void)data;
	if (record.correlation.external == record.correlation.internal * 3)
		__atomic_add_fetch(&asked_right, 1, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&asked_wrong, 1, __ATOMIC_RELAXED);
}

static void on_records(handle_t context, handle_t which, header_t **headers, size_t count,
		       void *data, uint64_t drops)
{
	(void)context, (void)which, (void)data, (void)drops;
	for (size_t i = 0; i < count; i++) {
		const api_record_t *record = headers[i]->payload;

		records++;
		asked_wrong += record->correlation.external != record->correlation.internal * 3;
	}
}

static int initialize(void (*finalize)(client_t), void *data)
{
	const int kinds[] = { HIP_RUNTIME };

	(void)finalize, (void)data;
	MUST(rocprofiler_create_context(&pushed));
	MUST(rocprofiler_create_context(&asked));
	MUST(rocprofiler_create_buffer(asked, 65536, 32768, POLICY_LOSSLESS, on_records, NULL,
				       &buffer));
	MUST(rocprofiler_configure_callback_tracing_service(pushed, HIP_RUNTIME, NULL, 0, on_pushed,
							    NULL));
	MUST(rocprofiler_configure_callback_tracing_service(asked, HIP_RUNTIME, NULL, 0, on_asked,
							    NULL));
	MUST(rocprofiler_configure_buffer_tracing_service(asked, HIP_RUNTIME, NULL, 0, buffer));
	MUST(rocprofiler_configure_external_correlation_id_request_service(asked, kinds, 1,
									   on_request, &asked));
	return 0;
}

static int attach(void (*detach)(client_t), handle_t *contexts, uint64_t count, void *data)
{
	(void)detach, (void)contexts, (void)count, (void)data;
	MUST(rocprofiler_start_context(pushed));
	MUST(rocprofiler_start_context(asked));
	return 0;
}

static void detach(void *data)
{
	(void)data;
	MUST(rocprofiler_flush_buffer(buffer));
	log_line("detach pushed %lu %lu asked %lu %lu requests %lu records %lu",
		 (unsigned long)pushed_right, (unsigned long)pushed_wrong,
		 (unsigned long)asked_right, (unsigned long)asked_wrong, (unsigned long)requests,
		 (unsigned long)records);
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, NULL, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "external";
	return &tool;
}

tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text, uint32_t priority,
					    client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
