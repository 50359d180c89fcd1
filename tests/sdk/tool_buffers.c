/*
 * A tool whose calls come in buffers: a lossless one with a thread of its own, a small one that
 * drops, and one for correlation ids that are used no more.
 */
#include "sdk_tool.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPERATIONS = 512, LARGE = 16384, SMALL = 1024 };

static handle_t context, small_context;
static handle_t large, small, retired, thread;
static uint64_t counts[16][OPERATIONS], extended, retirements, wrong, drops, threads_made;
static uint64_t delivering_thread, last_end;

static void on_record(const api_record_t *record)
{
	if (record->size != sizeof(*record) || record->operation >= OPERATIONS ||
	    !record->correlation.internal || record->start > record->end ||
	    record->correlation.ancestor >= record->correlation.internal)
		wrong++;
	else
		counts[record->kind][record->operation]++;
	if (record->end > last_end)
		last_end = record->end;
}

static void on_large(handle_t which, handle_t buffer, header_t **headers, size_t count, void *data,
		     uint64_t dropped)
{
	wrong += which.handle != context.handle || buffer.handle != large.handle ||
		 data != &large || dropped;
	delivering_thread = (uint64_t)syscall(SYS_gettid);
	for (size_t i = 0; i < count; i++) {
		const api_record_t *record = headers[i]->payload;

		wrong += headers[i]->category != 1 || (int)headers[i]->kind != record->kind;
		if (headers[i]->kind == BUFFER_HIP_RUNTIME_EXT)
			extended++, wrong += record->size != sizeof(*record) + 88 + 24;
		else
			on_record(record);
	}
}

static void on_small(handle_t which, handle_t buffer, header_t **headers, size_t count, void *data,
		     uint64_t dropped)
{
	(void)buffer, (void)headers, (void)data;
	wrong += which.handle != small_context.handle || !count;
	drops = dropped;
	usleep(20000);
}

static void on_retired(handle_t which, handle_t buffer, header_t **headers, size_t count,
		       void *data, uint64_t dropped)
{
	(void)which, (void)buffer, (void)data, (void)dropped;
	for (size_t i = 0; i < count; i++)
		retirements += headers[i]->kind == BUFFER_RETIREMENT;
}

static void before_thread(int library, void *data)
{
	(void)data;
	threads_made += library == 1;
}

static int initialize(void (*finalize)(client_t), void *data)
{
	static const int kinds[] = { HSA_CORE,     HSA_AMD,     HIP_RUNTIME,
				     HIP_COMPILER, MARKER_CORE, BUFFER_HIP_RUNTIME_EXT };
	uint64_t now = 0;

	(void)finalize, (void)data;
	MUST(rocprofiler_at_internal_thread_create(before_thread, NULL, 1, NULL));
	MUST(rocprofiler_create_context(&context));
	MUST(rocprofiler_create_context(&small_context));
	MUST(rocprofiler_create_buffer(context, LARGE, LARGE / 2, POLICY_LOSSLESS, on_large, &large,
				       &large));
	MUST(rocprofiler_create_buffer(small_context, SMALL, SMALL / 2, POLICY_DISCARD, on_small,
				       NULL, &small));
	MUST(rocprofiler_create_buffer(context, LARGE, LARGE / 2, POLICY_LOSSLESS, on_retired, NULL,
				       &retired));
	MUST(rocprofiler_create_callback_thread(&thread));
	MUST(rocprofiler_assign_callback_thread(large, thread));
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		MUST(rocprofiler_configure_buffer_tracing_service(context, kinds[i], NULL, 0,
								  large));
	MUST(rocprofiler_configure_buffer_tracing_service(context, BUFFER_RETIREMENT, NULL, 0,
							  retired));
	MUST(rocprofiler_configure_buffer_tracing_service(small_context, HIP_RUNTIME, NULL, 0,
							  small));
	MUST(rocprofiler_get_timestamp(&now));
	last_end = now;
	return 0;
}

static int attach(void (*detach)(client_t), handle_t *contexts, uint64_t count, void *data)
{
	(void)detach, (void)contexts, (void)count, (void)data;
	memset(counts, 0, sizeof(counts));
	extended = retirements = 0;
	MUST(rocprofiler_start_context(context));
	MUST(rocprofiler_start_context(small_context));
	return 0;
}

static void write_counts(void)
{
	for (int kind = 1; kind < 16; kind++)
		for (int operation = 0; operation < OPERATIONS; operation++) {
			const char *name = "?";

			if (!counts[kind][operation])
				continue;
			rocprofiler_query_buffer_tracing_kind_operation_name(kind, operation, &name,
									     NULL);
			log_line("call %d %s %lu %lu", kind, name,
				 (unsigned long)counts[kind][operation],
				 (unsigned long)counts[kind][operation]);
		}
}

static void detach(void *data)
{
	uint64_t now = 0;

	(void)data;
	MUST(rocprofiler_flush_buffer(large));
	MUST(rocprofiler_flush_buffer(retired));
	MUST(rocprofiler_get_timestamp(&now));
	write_counts();
	log_line("detach wrong %lu extended %lu retirements %lu dropped %d own %d threads %lu "
		 "future %d",
		 (unsigned long)wrong, (unsigned long)extended, (unsigned long)retirements,
		 drops > 0, delivering_thread && delivering_thread != (uint64_t)getpid(),
		 (unsigned long)threads_made, last_end > now);
}

static void finalize(void *data)
{
	(void)data;
	log_line("finalize %d %d", rocprofiler_destroy_buffer(small),
		 rocprofiler_flush_buffer(small));
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, finalize, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "buffers";
	return &tool;
}

tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text, uint32_t priority,
					    client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
