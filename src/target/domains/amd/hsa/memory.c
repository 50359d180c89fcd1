/*
 * Runs on application threads, after the call has returned.
 */
#include "target/domains/amd/hsa/memory.h"

#include "target/domains/amd/hsa/agents.h"
#include "target/domains/amd/wants.h"
#include "target/domains/work.h"
#include "target/hooks/thread.h"

struct piece {
	uint64_t size, address, device;
	enum memory_operation operation;
};

/* Writes the call, if it is traced, and the memory, if the call succeeded. */
static void write_piece(struct writer *writer, const struct hook *hook,
			const struct hook_frame *frame, uint64_t end, const struct piece *piece)
{
	const struct hook_frame *outer = hook_current();
	uint64_t cause = outer ? outer->begin : frame->begin;
	const uint64_t values[] = { piece->size,
				    piece->address,
				    piece->device,
				    piece->operation,
				    0,
				    0,
				    (uint64_t)thread_number(),
				    cause };

	if (amd_wants(hook->traced->domain))
		(void)hook_write_call(writer, hook, frame, end);
	if (!amd_wants(DOMAIN_MEMORY) || (int32_t)frame->results[0])
		return;
	agents_name(writer, piece->device);
	(void)work_write(writer, DOMAIN_MEMORY, frame->begin, end, values);
}

static uint64_t argument_pointed(const struct hook_frame *frame, unsigned index)
{
	const uint64_t *pointer = (const uint64_t *)hook_argument(frame, index);

	return pointer && !(int32_t)frame->results[0] ? *pointer : 0;
}

/* (region, size, void **address) */
void write_region_allocate(struct writer *writer, const struct hook *hook,
			   const struct hook_frame *frame, uint64_t end)
{
	write_piece(writer, hook, frame, end,
		    &(struct piece){ frame->arguments[1], argument_pointed(frame, 2),
				     agents_of_pool(frame->arguments[0]), MEMORY_ALLOCATE });
}

/* (pool, size, flags, void **address) */
void write_pool_allocate(struct writer *writer, const struct hook *hook,
			 const struct hook_frame *frame, uint64_t end)
{
	write_piece(writer, hook, frame, end,
		    &(struct piece){ frame->arguments[1], argument_pointed(frame, 3),
				     agents_of_pool(frame->arguments[0]), MEMORY_ALLOCATE });
}

/* (address); the record of the allocation has its size and device. */
void write_free(struct writer *writer, const struct hook *hook, const struct hook_frame *frame,
		uint64_t end)
{
	write_piece(writer, hook, frame, end,
		    &(struct piece){ 0, frame->arguments[0], DEVICE_UNKNOWN, MEMORY_FREE });
}

/* (pool, size, type, flags, handle *) */
void write_handle_create(struct writer *writer, const struct hook *hook,
			 const struct hook_frame *frame, uint64_t end)
{
	write_piece(writer, hook, frame, end,
		    &(struct piece){ frame->arguments[1], argument_pointed(frame, 4),
				     agents_of_pool(frame->arguments[0]),
				     MEMORY_VIRTUAL_ALLOCATE });
}

/* (handle) */
void write_handle_release(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	write_piece(writer, hook, frame, end,
		    &(struct piece){ 0, frame->arguments[0], DEVICE_UNKNOWN, MEMORY_VIRTUAL_FREE });
}
