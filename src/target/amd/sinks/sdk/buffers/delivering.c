/*
 * The table of buffers, whose halves are delivered to the tool's callback, on the threads of
 * delivery.c.
 */
#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/sinks/sdk/base/guard.h"
#include "target/amd/sinks/sdk/buffers/buffer.h"
#include "target/amd/tables/threads.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/page.h"

#include <linux/futex.h>
#include <time.h>

#define GLANCE_NS 10000000

struct sdk_buffer sdk_buffers[BUFFERS_MAX];

struct sdk_buffer *buffer_find(struct sdk_handle id)
{
	struct sdk_buffer *buffer = buffer_entry(id);

	if (!id.handle || __atomic_load_n(&buffer->state, __ATOMIC_ACQUIRE) != BUFFER_LIVE ||
	    buffer->handle != id.handle)
		return NULL;
	return buffer;
}

void buffer_drop(struct sdk_buffer *buffer, uint64_t count)
{
	__atomic_add_fetch(&buffer->drops, count, __ATOMIC_RELAXED);
	__atomic_add_fetch(&agent_page.dropped, count, __ATOMIC_RELAXED);
}

struct collection {
	struct sdk_buffer *buffer;
	size_t count;
};

void buffer_ask(struct sdk_buffer *buffer)
{
	if (!__atomic_exchange_n(&buffer->is_wanted, 1, __ATOMIC_ACQ_REL))
		delivery_wake(buffer->thread);
}

void buffer_await(struct sdk_buffer *buffer, uint32_t before, uint64_t end_ns)
{
	struct timespec glance = { 0, GLANCE_NS };

	__atomic_add_fetch(&buffer->waiters, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&buffer->deliveries, __ATOMIC_SEQ_CST) == before &&
	       monotonic_ns() < end_ns)
		raw4(SYS_futex, &buffer->deliveries, FUTEX_WAIT_PRIVATE, before, &glance);
	__atomic_sub_fetch(&buffer->waiters, 1, __ATOMIC_SEQ_CST);
}

bool buffer_acquire(struct sdk_buffer *buffer)
{
	return !__atomic_exchange_n(&buffer->is_busy, 1, __ATOMIC_ACQUIRE);
}

void buffer_release(struct sdk_buffer *buffer)
{
	__atomic_store_n(&buffer->is_busy, 0, __ATOMIC_RELEASE);
}

static void record_collect(void *record, void *data)
{
	struct collection *collection = data;
	struct sdk_buffer *buffer = collection->buffer;
	struct record_header *header = &buffer->header_values[collection->count];
	struct record_base *base = record;

	*header =
		base->kind & KIND_COUNTER
			? (struct record_header){ CATEGORY_COUNTERS,
						  (uint32_t)(base->kind & ~KIND_COUNTER), base + 1 }
			: (struct record_header){ CATEGORY_TRACING, (uint32_t)base->kind, record };
	buffer->headers[collection->count++] = header;
}

static void run_callback(void *argument)
{
	const struct collection *collection = argument;
	struct sdk_buffer *buffer = collection->buffer;

	buffer->callback((struct sdk_handle){ buffer->context + 1u },
			 (struct sdk_handle){ buffer->handle }, buffer->headers, collection->count,
			 buffer->data, __atomic_load_n(&buffer->drops, __ATOMIC_RELAXED));
}

static void hand_over(struct sdk_buffer *buffer, struct half *half)
{
	struct collection collection = { buffer, 0 };
	uint64_t used = half_seal(half);
	uint64_t lost = half_walk(half, used, record_collect, &collection);

	if (lost)
		buffer_drop(buffer, lost);
	if (collection.count)
		(void)guard_call(run_callback, &collection);
	half_clean(half, used, buffer->size, lost);
}

static void buffer_deliver(struct sdk_buffer *buffer)
{
	uint32_t which = __atomic_load_n(&buffer->active, __ATOMIC_RELAXED) & 1;
	struct half *half = &buffer->halves[which], *other = &buffer->halves[which ^ 1];

	__atomic_store_n(&buffer->is_wanted, 0, __ATOMIC_SEQ_CST);
	if (!(__atomic_load_n(&other->cursor, __ATOMIC_ACQUIRE) & SEALED) &&
	    __atomic_load_n(&half->cursor, __ATOMIC_ACQUIRE) & USED_MASK) {
		__atomic_store_n(&buffer->active, which ^ 1, __ATOMIC_SEQ_CST);
		hand_over(buffer, half);
	}
	__atomic_add_fetch(&buffer->deliveries, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&buffer->waiters, __ATOMIC_SEQ_CST))
		raw3(SYS_futex, &buffer->deliveries, FUTEX_WAKE_PRIVATE, 1 << 30);
}

static bool is_due(const struct sdk_buffer *buffer, unsigned thread)
{
	return __atomic_load_n(&buffer->state, __ATOMIC_ACQUIRE) == BUFFER_LIVE &&
	       buffer->thread == thread && __atomic_load_n(&buffer->is_wanted, __ATOMIC_SEQ_CST);
}

bool buffers_wait(unsigned thread)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		if (is_due(&sdk_buffers[i], thread))
			return true;
	return false;
}

void buffers_deliver(unsigned thread)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++) {
		struct sdk_buffer *buffer = &sdk_buffers[i];
		struct call_thread *me = call_thread_mine();
		uint64_t before;

		if (!me || !is_due(buffer, thread) || !buffer_acquire(buffer))
			continue;
		before = call_thread_enter_tool(me, (unsigned)buffer->tool);
		if (__atomic_load_n(&buffer->state, __ATOMIC_SEQ_CST) == BUFFER_LIVE)
			buffer_deliver(buffer);
		call_thread_leave_tool(me, before);
		buffer_release(buffer);
	}
}

bool buffer_is_empty(const struct sdk_buffer *buffer)
{
	uint64_t both = __atomic_load_n(&buffer->halves[0].cursor, __ATOMIC_ACQUIRE) |
			__atomic_load_n(&buffer->halves[1].cursor, __ATOMIC_ACQUIRE);

	return !(both & (USED_MASK | SEALED)) &&
	       !__atomic_load_n(&buffer->is_busy, __ATOMIC_ACQUIRE);
}

bool buffer_flush(struct sdk_buffer *buffer, uint64_t limit_ns)
{
	uint64_t end_ns = monotonic_ns() + limit_ns;
	uint32_t first = __atomic_load_n(&buffer->deliveries, __ATOMIC_SEQ_CST), now = first;

	/* Twice: one delivery may have been under way at the call. */
	while (!buffer_is_empty(buffer) && now - first < 2 && monotonic_ns() < end_ns) {
		buffer_ask(buffer);
		delivery_wake(buffer->thread);
		buffer_await(buffer, now, end_ns);
		now = __atomic_load_n(&buffer->deliveries, __ATOMIC_SEQ_CST);
	}
	return buffer_is_empty(buffer) || now - first >= 2;
}

void buffers_drain(int tool, uint64_t limit_ns)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		if (__atomic_load_n(&sdk_buffers[i].state, __ATOMIC_ACQUIRE) == BUFFER_LIVE &&
		    sdk_buffers[i].tool == tool && delivery_has(sdk_buffers[i].thread) &&
		    !delivery_is_me(sdk_buffers[i].thread))
			(void)buffer_flush(&sdk_buffers[i], limit_ns);
}
