/*
 * Device memory that the application allocates and frees through HSA's functions.
 */
#include "target/amd/sinks/sdk/buffers/buffers.h"
#include "target/amd/sinks/sdk/contexts.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/sinks/sdk/external.h"
#include "target/amd/sinks/sdk/moments.h"
#include "target/amd/tables/watch.h"

#include "target/runtime/text.h"

/* Layouts that tools see. */
struct memory_record {
	uint64_t size;
	int32_t kind, operation;
	struct correlation correlation;
	uint64_t thread, start_ns, end_ns;
	struct sdk_handle agent;
	uint64_t address, bytes;
};
_Static_assert(sizeof(struct memory_record) == 88, "as in the headers");

struct memory_data {
	uint64_t size, start_ns, end_ns;
	struct sdk_handle agent;
	uint64_t address, bytes;
};

enum { ALLOCATE = 1, VIRTUAL_ALLOCATE, FREE, VIRTUAL_FREE };

/* The arguments with the size and with a pointer to the address; 0: argument 0 is the address. */
static const struct {
	const char *name;
	uint8_t operation, bytes, address;
} calls[] = {
	{ "hsa_memory_allocate", ALLOCATE, 1, 2 },
	{ "hsa_amd_memory_pool_allocate", ALLOCATE, 1, 3 },
	{ "hsa_amd_vmem_handle_create", VIRTUAL_ALLOCATE, 1, 4 },
	{ "hsa_memory_free", FREE, 0, 0 },
	{ "hsa_amd_memory_pool_free", FREE, 0, 0 },
	{ "hsa_amd_vmem_handle_release", VIRTUAL_FREE, 0, 0 },
};

static bool set_wants(const struct operation_set *set, int operation)
{
	return !set || set->bits[0] >> operation & 1;
}

static void record_tell(unsigned context, const struct memory_record *record)
{
	const struct callback_service *service = &sdk_contexts[context].callbacks[CALLBACK_MEMORY];
	struct memory_data data = { sizeof(data),  record->start_ns, record->end_ns,
				    record->agent, record->address,  record->bytes };
	struct service_event event = { .kind = CALLBACK_MEMORY,
				       .operation = record->operation,
				       .phase = PHASE_ENTER,
				       .payload = &data,
				       .internal = record->correlation.internal,
				       .ancestor = record->correlation.ancestor };
	uint64_t user_data = 0;

	if (!service->callback || !set_wants(service->operations, record->operation))
		return;
	/* The call is over: reports both phases now, with the call's times. */
	service_tell(context, &event, &user_data);
	event.phase = PHASE_EXIT;
	service_tell(context, &event, &user_data);
}

static void record_write(unsigned context, struct memory_record *record)
{
	const struct buffer_service *service = &sdk_contexts[context].buffers[BUFFER_MEMORY];

	if (!service->buffer.handle || !set_wants(service->operations, record->operation))
		return;
	record->correlation.external = external_current(context, (int32_t)record->thread);
	buffer_write(context, BUFFER_MEMORY, record, sizeof(*record));
}

static void read_call(const struct sdk_frame *frame, unsigned which, struct memory_record *record)
{
	record->operation = calls[which].operation;
	record->address = frame->integers[calls[which].address];
	if (!calls[which].address)
		return;
	record->address = *(const uint64_t *)record->address;
	record->bytes = frame->integers[calls[which].bytes];
	record->agent = agent_of_pool(frame->integers[0]);
}

void memory_after(struct sdk_frame *frame, uint64_t end)
{
	const char *name = frame->slot->table->signatures[frame->slot->operation].name;
	struct memory_record record = { .size = sizeof(record), .kind = BUFFER_MEMORY };
	unsigned which = 0;

	while (which < ARRAY_SIZE(calls) && !text_equal(calls[which].name, name))
		which++;
	if ((int32_t)frame->results[0] || which == ARRAY_SIZE(calls))
		return;
	read_call(frame, which, &record);
	record.correlation = (struct correlation){ frame->internal, 0, frame->ancestor };
	record.thread = (uint64_t)frame->thread->number;
	record.start_ns = moment_ns(frame->begin);
	record.end_ns = MAX(moment_ns(end), record.start_ns);
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_state(&sdk_contexts[i]) == CONTEXT_ACTIVE) {
			record_tell(i, &record);
			record_write(i, &record);
		}
}
