/*
 * Creates buffers while their tool is configured; destroys them with the tool or on request.
 */
#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/buffers/buffer.h"
#include "target/runtime/page.h"

#include <sys/mman.h>

#define FLUSH_NS 10000000000ull

static uint64_t headers_max(const struct sdk_buffer *buffer)
{
	return buffer->size / RECORD_LEAST + 1;
}

static uint64_t headers_bytes(const struct sdk_buffer *buffer)
{
	return headers_max(buffer) *
	       (sizeof(struct record_header *) + sizeof(struct record_header));
}

static bool headers_open(struct sdk_buffer *buffer)
{
	long r = raw6(SYS_mmap, 0, headers_bytes(buffer), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	buffer->headers = r < 0 && r > -4096 ? NULL : (struct record_header **)r;
	buffer->header_values = (struct record_header *)(buffer->headers + headers_max(buffer));
	return buffer->headers;
}

static void free_entry(struct sdk_buffer *buffer)
{
	for (unsigned i = 0; i < 2; i++)
		half_close(&buffer->halves[i], buffer->size);
	if (buffer->headers)
		raw2(SYS_munmap, buffer->headers, headers_bytes(buffer));
	buffer->headers = NULL;
	buffer->drops = buffer->is_wanted = buffer->is_busy = buffer->active = 0;
	__atomic_store_n(&buffer->state, BUFFER_FREE, __ATOMIC_RELEASE);
}

static void leave_record(void *record, void *data)
{
	(void)record, (void)data;
}

/* Frees the buffer once its last writer has finished. If a writer does not finish, the memory stays
 * mapped and the entry is never reused. */
static void buffer_bury(struct sdk_buffer *buffer)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < 2; i++)
		lost += half_walk(&buffer->halves[i], half_seal(&buffer->halves[i]), leave_record,
				  NULL);
	if (lost)
		buffer_drop(buffer, lost);
	else
		free_entry(buffer);
}

static bool kill_buffer(struct sdk_buffer *buffer)
{
	uint32_t live = BUFFER_LIVE;

	if (!buffer_acquire(buffer))
		return false;
	if (!__atomic_compare_exchange_n(&buffer->state, &live, BUFFER_DYING, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
		buffer_release(buffer);
		return false;
	}
	buffer_bury(buffer);
	return true;
}

void buffers_forget(int tool)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		if (__atomic_load_n(&sdk_buffers[i].state, __ATOMIC_ACQUIRE) == BUFFER_LIVE &&
		    sdk_buffers[i].tool == tool)
			(void)kill_buffer(&sdk_buffers[i]);
}

void buffers_adopt(void)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		sdk_buffers[i].is_busy = sdk_buffers[i].is_wanted = sdk_buffers[i].waiters = 0;
}

static struct sdk_buffer *buffer_claim(void)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++) {
		uint32_t none = BUFFER_FREE;

		if (__atomic_compare_exchange_n(&sdk_buffers[i].state, &none, BUFFER_MAKING, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &sdk_buffers[i];
	}
	return NULL;
}

static bool buffer_open(struct sdk_buffer *buffer)
{
	struct sdk_handle id = { buffer->handle };

	/* Life 0 belongs to no buffer. */
	do
		id.handle += BUFFERS_MAX;
	while (!buffer_life(id));
	id.handle = id.handle / BUFFERS_MAX * BUFFERS_MAX + (uint64_t)(buffer - sdk_buffers);
	buffer->handle = id.handle;
	if (half_open(&buffer->halves[0], buffer_life(id), buffer->size) &&
	    half_open(&buffer->halves[1], buffer_life(id), buffer->size) && headers_open(buffer))
		return true;
	free_entry(buffer);
	return false;
}

SDK_EXPORT int rocprofiler_create_buffer(struct limpet_context context, size_t size,
					 size_t watermark, int policy, buffer_function *callback,
					 void *data, struct sdk_handle *ret);
SDK_EXPORT int rocprofiler_destroy_buffer(struct sdk_handle id);
SDK_EXPORT int rocprofiler_flush_buffer(struct sdk_handle id);
SDK_EXPORT int rocprofiler_assign_callback_thread(struct sdk_handle id, struct sdk_handle thread);

int rocprofiler_create_buffer(struct limpet_context context, size_t size, size_t watermark,
			      int policy, buffer_function *callback, void *data,
			      struct sdk_handle *ret)
{
	int tool = contexts_configuring(), thread;
	struct sdk_buffer *buffer;

	if (tool < 0)
		return SDK_CONFIGURATION_LOCKED;
	if (!callback || !ret || !size || size > SIZE_MAX_EACH || policy < 0 || policy >= POLICIES)
		return SDK_INVALID_ARGUMENT;
	if (!context_find(context))
		return SDK_CONTEXT_NOT_FOUND;
	if (buffer_find(*ret))
		return SDK_SERVICE_ALREADY_CONFIGURED;
	thread = delivery_begin(tool);
	buffer = thread >= 0 ? buffer_claim() : NULL;
	if (!buffer)
		return SDK_OUT_OF_RESOURCES;
	buffer->thread = (uint32_t)thread;
	buffer->size = ALIGN_UP(size, 8);
	buffer->watermark = watermark;
	buffer->policy = (uint64_t)policy;
	buffer->callback = callback;
	buffer->data = data;
	buffer->tool = tool;
	buffer->context = context_index(context);
	if (!buffer_open(buffer))
		return SDK_OUT_OF_RESOURCES;
	/* Release: pairs with the acquire in buffer_find(); publishes a complete entry. */
	__atomic_store_n(&buffer->state, BUFFER_LIVE, __ATOMIC_RELEASE);
	ret->handle = buffer->handle;
	return SDK_SUCCESS;
}

int rocprofiler_destroy_buffer(struct sdk_handle id)
{
	struct sdk_buffer *buffer = buffer_find(id);

	if (!buffer)
		return SDK_BUFFER_NOT_FOUND;
	return kill_buffer(buffer) ? SDK_SUCCESS : SDK_BUFFER_BUSY;
}

int rocprofiler_flush_buffer(struct sdk_handle id)
{
	struct sdk_buffer *buffer = buffer_find(id);

	if (!buffer)
		return SDK_BUFFER_NOT_FOUND;
	if (delivery_is_me(buffer->thread) || !delivery_has(buffer->thread))
		return buffer_is_empty(buffer) ? SDK_SUCCESS : SDK_BUFFER_BUSY;
	return buffer_flush(buffer, FLUSH_NS) ? SDK_SUCCESS : SDK_BUFFER_BUSY;
}

int rocprofiler_assign_callback_thread(struct sdk_handle id, struct sdk_handle thread)
{
	struct sdk_buffer *buffer = buffer_find(id);
	int tool = contexts_configuring(), index = delivery_find(tool, thread);

	if (tool < 0)
		return SDK_CONFIGURATION_LOCKED;
	if (index < 0)
		return SDK_THREAD_NOT_FOUND;
	if (!buffer)
		return SDK_BUFFER_NOT_FOUND;
	buffer->thread = (uint32_t)index;
	return SDK_SUCCESS;
}
