/*
 * The list.
 */
#include "target/sdk/watch.h"

#include "target/sdk/streams.h"

static const struct slot_watch watches[] = {
	{ "hsa_shut_down",
	  { CALLBACK_HSA_CORE, CALLBACK_HSA_AMD, CALLBACK_HSA_IMAGE, CALLBACK_HSA_FINALIZER,
	    CALLBACK_CODE_OBJECT, CALLBACK_MEMORY },
	  { BUFFER_HSA_CORE, BUFFER_HSA_AMD, BUFFER_HSA_IMAGE, BUFFER_HSA_FINALIZER, BUFFER_KERNEL,
	    BUFFER_MEMORY },
	  NULL,
	  restart_after_shut_down },
	{ "hsa_executable_freeze",
	  { CALLBACK_CODE_OBJECT },
	  { BUFFER_KERNEL },
	  NULL,
	  code_after_freeze },
	{ "hsa_executable_destroy",
	  { CALLBACK_CODE_OBJECT },
	  { BUFFER_KERNEL },
	  code_before_destroy,
	  NULL },
	{ "hsa_memory_allocate", { CALLBACK_MEMORY }, { BUFFER_MEMORY }, NULL, memory_after },
	{ "hsa_memory_free", { CALLBACK_MEMORY }, { BUFFER_MEMORY }, NULL, memory_after },
	{ "hsa_amd_memory_pool_allocate",
	  { CALLBACK_MEMORY },
	  { BUFFER_MEMORY },
	  NULL,
	  memory_after },
	{ "hsa_amd_memory_pool_free", { CALLBACK_MEMORY }, { BUFFER_MEMORY }, NULL, memory_after },
	{ "hsa_amd_vmem_handle_create",
	  { CALLBACK_MEMORY },
	  { BUFFER_MEMORY },
	  NULL,
	  memory_after },
	{ "hsa_amd_vmem_handle_release",
	  { CALLBACK_MEMORY },
	  { BUFFER_MEMORY },
	  NULL,
	  memory_after },
#define OF_DEVICES(name, before)                                                                  \
	{                                                                                         \
		name, { CALLBACK_KERNEL, CALLBACK_COPY }, { BUFFER_KERNEL, BUFFER_COPY }, before, \
			NULL                                                                      \
	}
#define MARKS(name)                                                                         \
	{                                                                                   \
		name, { CALLBACK_MARKER_RANGE }, { BUFFER_MARKER_RANGE }, NULL, range_after \
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
	return &watches[watch - 1];
}

void watch_before(struct sdk_frame *frame)
{
	const struct sdk_slot *slot = frame->slot;

	if (slot->watching & WATCHING_CALL && watch_at(slot->watch)->before)
		watch_at(slot->watch)->before(frame);
}

void watch_after(struct sdk_frame *frame, uint64_t end)
{
	const struct sdk_slot *slot = frame->slot;

	if (slot->watching & WATCHING_CALL && watch_at(slot->watch)->after)
		watch_at(slot->watch)->after(frame, end);
	if (slot->watching & WATCHING_STREAM)
		stream_after(frame);
}
