/*
 * The calls that limpet watches for itself, by name, with their handlers.
 */
#include "target/amd/tables/watch.h"

#include "target/amd/sinks/sdk/devices/streams.h"

static const struct slot_watch watches[] = {
	{ "hsa_init", { 0 }, { 0 }, true, restart_before, restart_after_init },
	{ "hsa_shut_down", { 0 }, { 0 }, true, restart_before_shut_down, restart_after_shut_down },
	{ "hsa_executable_freeze",
	  { CALLBACK_CODE_OBJECT },
	  { BUFFER_KERNEL },
	  false,
	  NULL,
	  code_after_freeze },
	{ "hsa_executable_destroy",
	  { CALLBACK_CODE_OBJECT },
	  { BUFFER_KERNEL },
	  false,
	  code_before_destroy,
	  NULL },
	{ "hsa_memory_allocate",
	  { CALLBACK_MEMORY },
	  { BUFFER_MEMORY },
	  false,
	  NULL,
	  memory_after },
	{ "hsa_memory_free", { CALLBACK_MEMORY }, { BUFFER_MEMORY }, false, NULL, memory_after },
	{ "hsa_amd_memory_pool_allocate",
	  { CALLBACK_MEMORY },
	  { BUFFER_MEMORY },
	  false,
	  NULL,
	  memory_after },
	{ "hsa_amd_memory_pool_free",
	  { CALLBACK_MEMORY },
	  { BUFFER_MEMORY },
	  false,
	  NULL,
	  memory_after },
	{ "hsa_amd_vmem_handle_create",
	  { CALLBACK_MEMORY },
	  { BUFFER_MEMORY },
	  false,
	  NULL,
	  memory_after },
	{ "hsa_amd_vmem_handle_release",
	  { CALLBACK_MEMORY },
	  { BUFFER_MEMORY },
	  false,
	  NULL,
	  memory_after },
#define OF_PACKETS(name, before, after)                        \
	{                                                      \
		name, { 0 }, { 0 }, false, before, after, true \
	}
	OF_PACKETS("hsa_queue_add_write_index_*", packets_before_add, packets_after_add),
	OF_PACKETS("hsa_queue_cas_write_index_*", NULL, packets_after_cas),
	OF_PACKETS("hsa_queue_store_write_index_*", packets_before_store, NULL),
	OF_PACKETS("hsa_queue_destroy", packets_before_destroy, packets_after_destroy),
	OF_PACKETS("hsa_signal_store_*", packets_before_ring, NULL),
#define OF_DEVICES(name, before)                                                                 \
	{                                                                                        \
		name, { CALLBACK_KERNEL, CALLBACK_COPY }, { BUFFER_KERNEL, BUFFER_COPY }, false, \
			before, NULL                                                             \
	}
#define MARKS(name)                                                                                \
	{                                                                                          \
		name, { CALLBACK_MARKER_RANGE }, { BUFFER_MARKER_RANGE }, false, NULL, range_after \
	}
	MARKS("roctxMarkA"),
	MARKS("roctxRange*"),
	MARKS("roctxGetThreadId"),
	OF_DEVICES("hipLaunch*", dispatch_before),
	OF_DEVICES("hipModuleLaunch*", dispatch_before),
	OF_DEVICES("hipExt*", dispatch_before),
	OF_DEVICES("hipDrv*", dispatch_before),
	OF_DEVICES("hipGraphLaunch*", dispatch_before),
	OF_DEVICES("hipMemcpy*", NULL),
	OF_DEVICES("hipMemset*", NULL),
};

static bool name_matches(const char *pattern, const char *name)
{
	while (*pattern && *pattern == *name)
		pattern++, name++;
	return *pattern == '*' || *pattern == *name;
}

uint8_t watch_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(watches); i++)
		if (name_matches(watches[i].name, name))
			return (uint8_t)(i + 1);
	return 0;
}

const struct slot_watch *watch_at(uint8_t watch)
{
	return &watches[watch ? watch - 1 : 0];
}

void watch_before(struct sdk_frame *frame)
{
	const struct slot_watch *watch = watch_at(frame->slot->watch);

	if (frame->watched & WATCHING_CALL && watch->before)
		watch->before(frame);
}

void watch_missed(const struct sdk_frame *frame)
{
	if (frame->slot->watch && watch_at(frame->slot->watch)->is_for_packets)
		packets_missed(frame);
}

static void call_after(struct sdk_frame *frame, uint64_t end, bool is_first)
{
	const struct slot_watch *watch = watch_at(frame->slot->watch);

	if (frame->watched & WATCHING_CALL && watch->after &&
	    (watch->is_for_all || watch->is_for_packets) == is_first)
		watch->after(frame, end);
}

void watch_returned(struct sdk_frame *frame, uint64_t end)
{
	call_after(frame, end, true);
}

void watch_after(struct sdk_frame *frame, uint64_t end)
{
	call_after(frame, end, false);
	if (frame->watched & WATCHING_STREAM)
		stream_after(frame);
}
