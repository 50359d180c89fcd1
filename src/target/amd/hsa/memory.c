/*
 * Runs on application threads, after their calls.
 */
#include "target/amd/hsa/memory.h"

#include "target/amd/events/events.h"
#include "target/amd/hsa/agents.h"

/* The call of HIP that it is in, else the call itself. */
static uint64_t cause_of(const struct call_frame *frame)
{
	const struct thread_call *call = call_thread_around(frame->thread, (uint64_t)frame);

	while (call && call->table != API_HIP)
		call = call_thread_around(frame->thread, call->frame);
	return call && call->begin ? call->begin : frame->begin;
}

static void allocation_report(const struct call_frame *frame, uint64_t end, unsigned pointer,
			      enum memory_operation operation)
{
	const uint64_t *address = (const uint64_t *)call_argument(frame, pointer);

	if (!call_has_failed(frame))
		events_memory(&(struct memory_event){
			operation, frame->integers[1], address ? *address : 0,
			agent_device_of_pool(frame->integers[0]), cause_of(frame), end, frame });
}

/* The record of the allocation has the size and the device. */
static void free_report(const struct call_frame *frame, uint64_t end,
			enum memory_operation operation)
{
	if (!call_has_failed(frame))
		events_memory(&(struct memory_event){ operation, 0, frame->integers[0], DEVICE_NONE,
						      cause_of(frame), end, frame });
}

/* (region, size, void **address) */
void memory_after_region_allocate(struct call_frame *frame, uint64_t end)
{
	allocation_report(frame, end, 2, MEMORY_ALLOCATE);
}

/* (pool, size, flags, void **address) */
void memory_after_pool_allocate(struct call_frame *frame, uint64_t end)
{
	allocation_report(frame, end, 3, MEMORY_ALLOCATE);
}

/* (address) */
void memory_after_free(struct call_frame *frame, uint64_t end)
{
	free_report(frame, end, MEMORY_FREE);
}

/* (pool, size, type, flags, handle *) */
void memory_after_handle_create(struct call_frame *frame, uint64_t end)
{
	allocation_report(frame, end, 4, MEMORY_VIRTUAL_ALLOCATE);
}

/* (handle) */
void memory_after_handle_release(struct call_frame *frame, uint64_t end)
{
	free_report(frame, end, MEMORY_VIRTUAL_FREE);
}
