/*
 * A tool that wants to know what devices do: code objects and kernels by callbacks; dispatches,
 * copies, memory and scratch by a buffer.
 */
#include "sdk_tool.h"

#include <string.h>

enum {
	CODE_OBJECT = 10,
	BUFFER_COPY = 10,
	BUFFER_KERNEL = 11,
	BUFFER_SCRATCH = 12,
	BUFFER_MEMORY = 16,
	KERNELS_MAX = 256,
	AGENT_BYTES = 312,
};

/* What kinds of records have in common at their beginning. */
struct async_record {
	uint64_t size;
	int kind, operation;
	uint64_t internal, external, thread, start, end;
	uint64_t more[16];
};

static handle_t context, buffer;
static uint64_t objects, symbols, kernels, named, copies[5], copy_bytes, allocated, freed,
	allocated_bytes, scratch[4], wrong;
static char known[KERNELS_MAX];
static uint64_t agents[16];
static size_t agent_count;

/* As a tool that looks up every agent by what it was told. */
static int is_unknown(uint64_t agent)
{
	for (size_t i = 0; i < agent_count; i++)
		if (agents[i] == agent)
			return 0;
	return 1;
}

static int on_agents(int version, const void **list, size_t count, void *data)
{
	(void)version, (void)data;
	for (; agent_count < count && agent_count < 16; agent_count++)
		agents[agent_count] = ((const uint64_t *)list[agent_count])[1];
	return 0;
}

static void on_code(record_t record, uint64_t *user_data, void *data)
{
	const uint64_t *payload = record.payload;

	(void)user_data, (void)data;
	if (payload[0] != 88)
		wrong++;
	if (record.operation == 1)
		log_line("%s %lu %s %lu", record.phase == PHASE_ENTER ? "object" : "gone",
			 (unsigned long)payload[1], (const char *)payload[4],
			 (unsigned long)payload[2]);
	if (record.phase != PHASE_ENTER)
		return;
	if (record.operation == 1) {
		objects++;
	} else {
		if (symbols < 3)
			log_line("symbol %lu %s", (unsigned long)payload[1],
				 (const char *)payload[3]);
		symbols++;
		if (payload[1] < KERNELS_MAX)
			known[payload[1]] = 1;
	}
}

static void on_kernel(const struct async_record *record)
{
	/* dispatch_info: size, agent, queue, kernel, dispatch, segments, workgroup, grid */
	const uint32_t *shape = (const uint32_t *)&record->more[5];

	kernels++;
	named += record->more[3] < KERNELS_MAX && known[record->more[3]];
	wrong += record->size != 184 || is_unknown(record->more[1]) || !record->more[2] ||
		 !record->more[4] || record->operation != 2 ||
		 (shape[2] * 2 != shape[5] && shape[2] * 10 != shape[5]) || !shape[2];
}

static void on_memory(const api_record_t *record)
{
	const uint64_t *more = (const uint64_t *)record + 5;

	wrong += record->size != 88 || more[1] > more[2] || !more[0] ||
		 (record->operation == 1 && is_unknown(more[3]));
	if (record->operation == 1)
		allocated++, allocated_bytes += ((const uint64_t *)record)[10];
	else
		freed++;
}

static void on_records(handle_t which, handle_t id, header_t **headers, size_t count, void *data,
		       uint64_t drops)
{
	(void)which, (void)id, (void)data;
	wrong += drops;
	for (size_t i = 0; i < count; i++) {
		const struct async_record *record = headers[i]->payload;

		if (headers[i]->kind == BUFFER_MEMORY) {
			on_memory(headers[i]->payload);
			continue;
		}
		if (headers[i]->kind == BUFFER_SCRATCH) {
			scratch[record->operation & 3]++;
			wrong += is_unknown(((const uint64_t *)record)[5]);
			continue;
		}
		wrong += !record->internal || !record->thread || record->start > record->end;
		if (headers[i]->kind == BUFFER_KERNEL) {
			on_kernel(record);
		} else {
			copies[record->operation]++;
			copy_bytes += record->more[2];
			wrong += is_unknown(record->more[0]) || is_unknown(record->more[1]);
		}
	}
}

static int initialize(void (*finalize)(client_t), void *data)
{
	static const int kinds[] = { BUFFER_COPY, BUFFER_KERNEL, BUFFER_SCRATCH, BUFFER_MEMORY };
	static const int operations[] = { 1, 2 };

	(void)finalize, (void)data;
	MUST(rocprofiler_query_available_agents(1, on_agents, AGENT_BYTES, NULL));
	MUST(rocprofiler_create_context(&context));
	MUST(rocprofiler_create_buffer(context, 65536, 32768, POLICY_LOSSLESS, on_records, NULL,
				       &buffer));
	MUST(rocprofiler_configure_callback_tracing_service(context, CODE_OBJECT, operations, 2,
							    on_code, NULL));
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		MUST(rocprofiler_configure_buffer_tracing_service(context, kinds[i], NULL, 0,
								  buffer));
	return 0;
}

static int attach(void (*detach)(client_t), handle_t *contexts, uint64_t count, void *data)
{
	(void)detach, (void)contexts, (void)count, (void)data;
	MUST(rocprofiler_start_context(context));
	return 0;
}

static void detach(void *data)
{
	(void)data;
	MUST(rocprofiler_flush_buffer(buffer));
	log_line("detach objects %lu symbols %lu kernels %lu named %lu todevice %lu tohost %lu "
		 "bytes %lu allocated %lu freed %lu memory %lu scratch %lu wrong %lu",
		 (unsigned long)objects, (unsigned long)symbols, (unsigned long)kernels,
		 (unsigned long)named, (unsigned long)copies[2], (unsigned long)copies[3],
		 (unsigned long)copy_bytes, (unsigned long)allocated, (unsigned long)freed,
		 (unsigned long)allocated_bytes,
		 (unsigned long)(scratch[1] + scratch[2] + scratch[3]), (unsigned long)wrong);
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, NULL, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "work";
	return &tool;
}

tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text, uint32_t priority,
					    client_t *client)
{
	static tool_attach_t tool = { sizeof(tool), attach, detach, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
