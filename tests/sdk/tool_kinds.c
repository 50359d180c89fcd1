/*
 * A tool that is told of streams, of ranges as one, and of kernels when they are queued and when
 * they are done.
 */
#include "sdk_tool.h"

#include <string.h>
#include <unistd.h>

enum {
	CALLBACK_KERNEL = 12,
	CALLBACK_STREAM = 20,
	CALLBACK_RANGE = 21,
	BUFFER_RANGE = 32,
	BUFFER_KERNEL = 11,
	LAUNCH = 214,
	SLOW_US = 200,
	IDS_MAX = 1 << 16,
	USED = 3,
	ENQUEUED = 1,
	DISPATCHES_MAX = 4096,
};

static handle_t context, buffer;
static uint64_t streams[4][3]; /* by operation and phase */
static uint64_t ranges[4][3];  /* the same */
static uint64_t kernels[3][3]; /* the same */
static uint64_t written[4];    /* by operation */
static uint64_t named, external, wrong, retirements, early;
static char retired[IDS_MAX];
static uint64_t dispatched[DISPATCHES_MAX];
static uint64_t highest_stream;

static void count(uint64_t *counter, uint64_t more)
{
	__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

static void on_stream(record_t record, uint64_t *user_data, void *data)
{
	const uint64_t *payload = record.payload;

	count(&streams[record.operation & 3][record.phase], 1);
	count(&wrong, payload[0] != 24 || data != streams || !payload[2] != !payload[1]);
	if (payload[1] > __atomic_load_n(&highest_stream, __ATOMIC_RELAXED))
		__atomic_store_n(&highest_stream, payload[1], __ATOMIC_RELAXED);
	if (record.operation != USED)
		return;
	if (record.phase == PHASE_ENTER)
		*user_data = payload[1] + 7;
	else
		count(&wrong, *user_data != payload[1] + 7);
}

static void on_range(record_t record, uint64_t *user_data, void *data)
{
	const uint64_t *payload = record.payload;

	(void)data;
	count(&ranges[record.operation & 3][record.phase], 1);
	if (record.operation == 1 || record.operation == 2) {
		const char *message = (const char *)payload[1];

		count(&wrong,
		      payload[0] != 32 || (strcmp(message, "round") && strcmp(message, "copies") &&
					   strcmp(message, "whole")));
	}
	if (record.phase == PHASE_ENTER)
		*user_data = record.correlation.internal + payload[1];
	else
		count(&wrong, *user_data != record.correlation.internal + payload[1]);
}

/* size, start, end; dispatch_info: size, agent, queue, kernel, dispatch */
static void on_kernel(record_t record, uint64_t *user_data, void *data)
{
	const uint64_t *payload = record.payload, *info = payload + 3;
	uint64_t dispatch = info[4];

	(void)data;
	count(&kernels[record.operation][record.phase], 1);
	count(&wrong, payload[0] != 152 || !dispatch || dispatch >= DISPATCHES_MAX ||
			      !record.thread || !record.correlation.internal);
	if (record.operation != ENQUEUED) {
		count(&wrong, *user_data != dispatch * 3 || payload[2] < payload[1]);
		count(&external, record.correlation.external == dispatch);
		usleep(2 * SLOW_US);
		return;
	}
	if (record.phase == PHASE_ENTER) {
		*user_data = dispatch * 3;
		count(&named, info[3] != 0);
		count(&wrong, __atomic_exchange_n(&dispatched[dispatch % DISPATCHES_MAX], 1,
						  __ATOMIC_RELAXED));
		MUST(rocprofiler_push_external_correlation_id(context, record.thread, dispatch));
		return;
	}
	count(&wrong, *user_data != dispatch * 3 || record.correlation.external != dispatch);
	MUST(rocprofiler_pop_external_correlation_id(context, record.thread, &dispatch));
}

/* Its kernel may be done before the call has returned. */
static void on_launch(record_t record, uint64_t *user_data, void *data)
{
	(void)user_data, (void)data;
	if (record.phase == PHASE_EXIT)
		usleep(SLOW_US);
}

static void on_records(handle_t which, handle_t id, header_t **headers, size_t number, void *data,
		       uint64_t drops)
{
	(void)which, (void)id, (void)data;
	count(&wrong, drops);
	for (size_t i = 0; i < number; i++) {
		const api_record_t *record = headers[i]->payload;

		if (headers[i]->kind == BUFFER_RETIREMENT) {
			retirements++;
			retired[((const uint64_t *)headers[i]->payload)[3] % IDS_MAX]++;
			continue;
		}
		early += retired[record->correlation.internal % IDS_MAX];
		if (headers[i]->kind == BUFFER_KERNEL)
			continue;
		count(&wrong, headers[i]->kind != BUFFER_RANGE || record->kind != BUFFER_RANGE ||
				      record->size != 64 || record->start > record->end ||
				      !record->thread || !record->correlation.internal);
		written[record->operation & 3]++;
	}
}

static int initialize(void (*finalize)(client_t), void *data)
{
	static const int kinds[] = { BUFFER_RANGE, BUFFER_KERNEL, BUFFER_RETIREMENT };
	static const int launch = LAUNCH;

	(void)finalize, (void)data;
	MUST(rocprofiler_create_context(&context));
	MUST(rocprofiler_create_buffer(context, 65536, 32768, POLICY_LOSSLESS, on_records, NULL,
				       &buffer));
	MUST(rocprofiler_configure_callback_tracing_service(context, CALLBACK_STREAM, NULL, 0,
							    on_stream, streams));
	MUST(rocprofiler_configure_callback_tracing_service(context, CALLBACK_RANGE, NULL, 0,
							    on_range, NULL));
	MUST(rocprofiler_configure_callback_tracing_service(context, CALLBACK_KERNEL, NULL, 0,
							    on_kernel, NULL));
	MUST(rocprofiler_configure_callback_tracing_service(context, HIP_RUNTIME, &launch, 1,
							    on_launch, NULL));
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		MUST(rocprofiler_configure_buffer_tracing_service(context, kinds[i], NULL, 0,
								  buffer));
	return 0;
}

static int attach(void (*detach)(client_t), handle_t *contexts, uint64_t number, void *data)
{
	(void)detach, (void)contexts, (void)number, (void)data;
	MUST(rocprofiler_start_context(context));
	return 0;
}

static void log_phases(const char *name, const uint64_t (*counts)[3], unsigned number)
{
	for (unsigned i = 0; i < number; i++)
		log_line("%s %u %lu %lu %lu", name, i, (unsigned long)counts[i][0],
			 (unsigned long)counts[i][1], (unsigned long)counts[i][2]);
}

static void detach(void *data)
{
	(void)data;
	MUST(rocprofiler_flush_buffer(buffer));
	log_phases("stream", streams, 4);
	log_phases("range", ranges, 4);
	log_phases("kernel", kernels, 3);
	log_line("written %lu %lu %lu %lu", (unsigned long)written[0], (unsigned long)written[1],
		 (unsigned long)written[2], (unsigned long)written[3]);
	log_line("detach named %lu external %lu streams %lu retired %lu early %lu wrong %lu",
		 (unsigned long)named, (unsigned long)external, (unsigned long)highest_stream,
		 (unsigned long)retirements, (unsigned long)early, (unsigned long)wrong);
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, NULL, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "kinds";
	return &tool;
}

tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text, uint32_t priority,
					    client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
