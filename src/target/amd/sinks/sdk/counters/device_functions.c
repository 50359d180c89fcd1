/*
 * The SDK's functions for counters of whole devices. Runs on threads of tools.
 */
#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/buffers/buffer.h"
#include "target/amd/sinks/sdk/buffers/buffers.h"
#include "target/amd/sinks/sdk/counters/device_service.h"

#include <sys/mman.h>

#define RECORDS_MAX 8192u

enum { FLAG_NONE, FLAG_ASYNC };

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
	if (buffer.handle && !buffer_find(buffer))
		return SDK_BUFFER_NOT_FOUND;
	return device_service_add(&(struct device_wish){ .context = context_index(context),
							 .context_life = found->life,
							 .tool = found->tool,
							 .agent = agent,
							 .buffer = buffer,
							 .choose = choose,
							 .data = data });
}

/* Where the tool gets its records: in its own memory, or in a buffer. */
struct records_target {
	struct counter_record *items; /* NULL: the buffer */
	size_t count, room;
	uint64_t user_data;
};

/* Also counts records that do not fit. */
static void record_copy(struct records_target *target, const struct counter_record *record)
{
	if (target->count < target->room)
		target->items[target->count] = *record;
	target->count++;
}

static int records_take(const struct device_wish *wish, const struct counter_records *records,
			void *data)
{
	struct records_target *target = data;
	bool is_whole = true;

	for (size_t i = 0; i < records->count; i++) {
		records->items[i].user_data = target->user_data;
		if (target->items)
			record_copy(target, &records->items[i]);
		else if (wish->buffer.handle)
			is_whole &=
				buffer_write_counter(wish->buffer, COUNTER_VALUE,
						     &records->items[i], sizeof(records->items[i]));
	}
	return is_whole ? SDK_SUCCESS : SDK_OUT_OF_RESOURCES;
}

static int services_read(struct limpet_context context, struct records_target *target)
{
	size_t size = RECORDS_MAX * sizeof(struct counter_record);
	long memory = raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct counter_records records = { (struct counter_record *)memory, 0, RECORDS_MAX };
	int r;

	if (memory < 0 && memory > -4096)
		return SDK_OUT_OF_RESOURCES;
	r = device_services_read(context_index(context), &records, records_take, target);
	raw2(SYS_munmap, memory, size);
	return r;
}

/* Asynchronous reads are done synchronously, too: the records arrive earlier than requested. */
int rocprofiler_sample_device_counting_service(struct limpet_context context, uint64_t user_data,
					       int flags, struct counter_record *records,
					       size_t *count)
{
	const struct sdk_context *found = context_find(context);
	struct records_target target = { records, 0, records && count ? *count : 0, user_data };
	int r;

	if (!found || context_state(found) != CONTEXT_ACTIVE)
		return SDK_CONTEXT_INVALID;
	if (records && (flags & FLAG_ASYNC || !count))
		return SDK_INVALID_ARGUMENT;
	r = services_read(context, &target);
	if (!r && count)
		*count = target.count;
	return !r && records && target.count > target.room ? SDK_OUT_OF_RESOURCES : r;
}
