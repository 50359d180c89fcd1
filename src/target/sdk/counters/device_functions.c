/*
 * The SDK's functions for counters of whole devices.  On threads of tools.
 */
#include "target/sdk/buffers/buffers.h"
#include "target/sdk/contexts.h"
#include "target/sdk/counters/device_service.h"
#include "target/sdk/status.h"

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
	return device_service_add(&(struct device_wish){ .context = context_index(context),
							 .context_life = found->life,
							 .tool = found->tool,
							 .agent = agent,
							 .buffer = buffer,
							 .choose = choose,
							 .data = data });
}

/* Where the tool wants them: in its own memory, or in the buffer. */
struct records_target {
	struct counter_record *items;
	size_t count, room;
	uint64_t user_data;
};

static int records_take(const struct device_wish *wish, const struct counter_records *records,
			void *data)
{
	struct records_target *target = data;

	for (size_t i = 0; i < records->count; i++) {
		records->items[i].user_data = target->user_data;
		if (!target->items && wish->buffer.handle)
			buffer_write_counter(wish->buffer, COUNTER_VALUE, &records->items[i],
					     sizeof(records->items[i]));
		if (!target->items)
			continue;
		if (target->count == target->room)
			return SDK_OUT_OF_RESOURCES;
		target->items[target->count++] = records->items[i];
	}
	return SDK_SUCCESS;
}

/* What is asked for without waiting is waited for as well: it is there sooner than wanted. */
int rocprofiler_sample_device_counting_service(struct limpet_context context, uint64_t user_data,
					       int flags, struct counter_record *records,
					       size_t *count)
{
	const struct sdk_context *found = context_find(context);
	struct records_target target = { records, 0, records && count ? *count : 0, user_data };
	int r;

	if (!found || context_state(found) != CONTEXT_ACTIVE)
		return SDK_CONTEXT_INVALID;
	if (records && (flags == FLAG_ASYNC || !count))
		return SDK_INVALID_ARGUMENT;
	r = device_service_read(context_index(context), records_take, &target);
	if (!r && count)
		*count = target.count;
	return r;
}
