/*
 * Each buffer has two halves: calls write into one while the other is delivered.  A writer takes
 * its place by one compare-and-exchange and says when the record is whole; whoever delivers waits
 * for that, but not for ever: a thread may have been taken out of the middle by a signal handler.
 */
#include "target/sdk/buffers.h"

#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/page.h"
#include "target/sdk/contexts.h"
#include "target/sdk/delivery.h"
#include "target/sdk/guard.h"
#include "target/sdk/status.h"
#include "target/sdk/threads.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BUFFERS_MAX   64u
#define SIZE_MAX_EACH (1ull << 32)
#define RECORD_LEAST  32u
#define SEALED        (1ull << 63)
#define COUNT_SHIFT   34 /* below: bytes up to SIZE_MAX_EACH, above: records of the least size */
#define USED_MASK     ((1ull << COUNT_SHIFT) - 1)
#define PATIENCE_NS   2000000000ull /* for writers, and for room */
#define FLUSH_NS      10000000000ull
#define GLANCE_NS     1000000
#define SPINS_MAX     1000u

_Static_assert(SIZE_MAX_EACH / RECORD_LEAST < 1ull << (63 - COUNT_SHIFT), "all are counted");

enum buffer_state { BUFFER_FREE, BUFFER_MAKING, BUFFER_LIVE, BUFFER_DYING };

/* In front of each record's payload. */
struct slot_head {
	uint32_t size;
	uint32_t is_whole;
	struct record_header header;
};

struct half {
	uint64_t cursor; /* bytes of payload that are taken, how many records, whether it is sealed
			  */
	unsigned char *memory;
};

struct sdk_buffer {
	uint32_t state;   /* enum buffer_state */
	uint32_t writers; /* never reset: a late one takes back what it has counted */
	int32_t tool;
	uint32_t thread;     /* of delivery.h */
	uint32_t active;     /* which half */
	uint32_t is_wanted;  /* somebody wants it delivered */
	uint32_t is_busy;    /* it is being delivered, or destroyed */
	uint32_t deliveries; /* how often it was; a futex */
	uint32_t waiters;
	uint32_t context;
	uint64_t handle; /* another one each time that the entry is used */
	uint64_t size, watermark, policy, drops;
	uint64_t mapped; /* bytes of each half */
	buffer_function *callback;
	void *data;
	struct record_header **headers; /* room for those of one half */
	struct half halves[2];
};

static struct sdk_buffer buffers[BUFFERS_MAX];

static struct sdk_buffer *buffer_find(struct sdk_handle id)
{
	struct sdk_buffer *buffer = &buffers[id.handle % BUFFERS_MAX];

	if (!id.handle || __atomic_load_n(&buffer->state, __ATOMIC_ACQUIRE) != BUFFER_LIVE ||
	    buffer->handle != id.handle)
		return NULL;
	return buffer;
}

static void *memory_map(uint64_t bytes)
{
	long r = raw6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

static void records_drop(struct sdk_buffer *buffer, uint64_t count)
{
	__atomic_add_fetch(&buffer->drops, count, __ATOMIC_RELAXED);
	__atomic_add_fetch(&agent_page.dropped, count, __ATOMIC_RELAXED);
}

static void delivery_ask(struct sdk_buffer *buffer)
{
	if (!__atomic_exchange_n(&buffer->is_wanted, 1, __ATOMIC_ACQ_REL))
		delivery_wake(buffer->thread);
}

/* Waits until it was delivered once more than `before`. */
static void await_delivery(struct sdk_buffer *buffer, uint32_t before, uint64_t end_ns)
{
	struct timespec glance = { 0, GLANCE_NS * 10 };

	__atomic_add_fetch(&buffer->waiters, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&buffer->deliveries, __ATOMIC_SEQ_CST) == before &&
	       monotonic_ns() < end_ns)
		raw4(SYS_futex, &buffer->deliveries, FUTEX_WAIT_PRIVATE, before, &glance);
	__atomic_sub_fetch(&buffer->waiters, 1, __ATOMIC_SEQ_CST);
}

/* The place for a record in the half that is written to; NULL: no room. */
static struct slot_head *slot_reserve(struct sdk_buffer *buffer, uint64_t size)
{
	for (unsigned spins = 0; spins < SPINS_MAX; spins++) {
		uint32_t which = __atomic_load_n(&buffer->active, __ATOMIC_ACQUIRE) & 1;
		struct half *half = &buffer->halves[which];
		uint64_t cursor = __atomic_load_n(&half->cursor, __ATOMIC_ACQUIRE);
		uint64_t used = cursor & USED_MASK, count = (cursor & ~SEALED) >> COUNT_SHIFT;

		if (cursor & SEALED) {
			spin_pause();
			continue;
		}
		if (used + size > buffer->size)
			return NULL;
		if (__atomic_compare_exchange_n(&half->cursor, &cursor,
						cursor + size + (1ull << COUNT_SHIFT), true,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return (struct slot_head *)(half->memory + used +
						    count * sizeof(struct slot_head));
	}
	return NULL;
}

/* Who delivers cannot wait for itself. */
static struct slot_head *reserve_patiently(struct sdk_buffer *buffer, uint64_t size)
{
	uint64_t end_ns = monotonic_ns() + PATIENCE_NS;
	struct slot_head *place = NULL;

	while (!place && !delivery_is_me(buffer->thread) && delivery_has(buffer->thread) &&
	       __atomic_load_n(&buffer->state, __ATOMIC_RELAXED) == BUFFER_LIVE &&
	       monotonic_ns() < end_ns) {
		uint32_t before = __atomic_load_n(&buffer->deliveries, __ATOMIC_SEQ_CST);

		delivery_ask(buffer);
		place = slot_reserve(buffer, size);
		if (place)
			return place;
		await_delivery(buffer, before, end_ns);
		place = slot_reserve(buffer, size);
	}
	return place;
}

/* Records are made of words; libc's memcpy is not at hand here. */
static void copy_words(uint64_t *to, const uint64_t *from, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] = from[i];
}

static void clear_words(uint64_t *at, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*at); i++)
		at[i] = 0;
}

static void slot_put(struct slot_head *place, int kind, const void *record, size_t size)
{
	place->size = (uint32_t)size;
	place->header = (struct record_header){ CATEGORY_TRACING, (uint32_t)kind, place + 1 };
	copy_words((uint64_t *)(place + 1), record, size);
	/* Release: who sees it whole sees its bytes. */
	__atomic_store_n(&place->is_whole, 1, __ATOMIC_RELEASE);
}

static void write_in(struct sdk_buffer *buffer, int kind, const void *record, size_t size)
{
	size_t room = ALIGN_UP(size, 8);
	struct slot_head *place = room <= buffer->size ? slot_reserve(buffer, room) : NULL;
	const struct half *half;

	if (!place && room <= buffer->size) {
		delivery_ask(buffer);
		if (buffer->policy == POLICY_LOSSLESS)
			place = reserve_patiently(buffer, room);
	}
	if (!place) {
		records_drop(buffer, 1);
		return;
	}
	slot_put(place, kind, record, size);
	half = &buffer->halves[__atomic_load_n(&buffer->active, __ATOMIC_RELAXED) & 1];
	if ((__atomic_load_n(&half->cursor, __ATOMIC_RELAXED) & USED_MASK) >= buffer->watermark &&
	    !__atomic_load_n(&buffer->is_wanted, __ATOMIC_RELAXED))
		delivery_ask(buffer);
}

/* Counted in before it is looked whether it lives: who destroys it sees the writer, or the writer
 * sees that it is gone. */
void buffer_write(unsigned context, int kind, const void *record, size_t size)
{
	struct sdk_handle id = sdk_contexts[context].buffers[kind].buffer;
	struct sdk_buffer *buffer = &buffers[id.handle % BUFFERS_MAX];

	__atomic_add_fetch(&buffer->writers, 1, __ATOMIC_SEQ_CST);
	if (buffer_find(id))
		write_in(buffer, kind, record, size);
	__atomic_sub_fetch(&buffer->writers, 1, __ATOMIC_SEQ_CST);
}

static bool await_whole(const struct slot_head *place, uint64_t end_ns)
{
	struct timespec pause = { 0, GLANCE_NS / 10 };
	unsigned spins = 0;

	while (!__atomic_load_n(&place->is_whole, __ATOMIC_ACQUIRE)) {
		if (++spins < SPINS_MAX) {
			spin_pause();
			continue;
		}
		if (monotonic_ns() >= end_ns)
			return false;
		raw2(SYS_nanosleep, &pause, 0);
	}
	return true;
}

/* Headers of what is whole.  Where a record is not, nothing behind it can be found. */
static size_t half_collect(struct sdk_buffer *buffer, const struct half *half, uint64_t count)
{
	uint64_t end_ns = monotonic_ns() + PATIENCE_NS;
	unsigned char *at = half->memory;
	size_t found = 0;

	for (; found < count; found++) {
		struct slot_head *place = (struct slot_head *)at;

		if (!await_whole(place, end_ns))
			break;
		buffer->headers[found] = &place->header;
		at += sizeof(*place) + ALIGN_UP(place->size, 8);
	}
	return found;
}

/* Ready for the next writers.  What somebody may still write to is left to him. */
static void half_clean(struct sdk_buffer *buffer, struct half *half, uint64_t used,
		       bool is_abandoned)
{
	void *fresh = is_abandoned ? memory_map(buffer->mapped) : NULL;

	if (is_abandoned && !fresh)
		return; /* stays sealed: the other half has to do */
	if (is_abandoned)
		half->memory = fresh;
	else
		clear_words((uint64_t *)half->memory, used);
	__atomic_store_n(&half->cursor, 0, __ATOMIC_RELEASE);
}

struct buffer_call {
	struct sdk_buffer *buffer;
	size_t count;
};

static void run_callback(void *argument)
{
	const struct buffer_call *call = argument;
	struct sdk_buffer *buffer = call->buffer;

	buffer->callback((struct sdk_handle){ buffer->context + 1u },
			 (struct sdk_handle){ buffer->handle }, buffer->headers, call->count,
			 buffer->data, __atomic_load_n(&buffer->drops, __ATOMIC_RELAXED));
}

static void hand_over(struct sdk_buffer *buffer, struct half *half, uint64_t cursor)
{
	uint64_t count = (cursor & ~SEALED) >> COUNT_SHIFT, used = cursor & USED_MASK;
	size_t found = half_collect(buffer, half, count);

	if (found < count)
		records_drop(buffer, count - found);
	if (found)
		(void)guard_call(run_callback, &(struct buffer_call){ buffer, found });
	half_clean(buffer, half, used + count * sizeof(struct slot_head), found < count);
}

static void buffer_deliver(struct sdk_buffer *buffer)
{
	uint32_t which = __atomic_load_n(&buffer->active, __ATOMIC_RELAXED) & 1;
	struct half *half = &buffer->halves[which], *other = &buffer->halves[which ^ 1];

	__atomic_store_n(&buffer->is_wanted, 0, __ATOMIC_SEQ_CST);
	if (!(__atomic_load_n(&other->cursor, __ATOMIC_ACQUIRE) & SEALED) &&
	    __atomic_load_n(&half->cursor, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&buffer->active, which ^ 1, __ATOMIC_SEQ_CST);
		hand_over(buffer, half, __atomic_fetch_or(&half->cursor, SEALED, __ATOMIC_ACQ_REL));
	}
	__atomic_add_fetch(&buffer->deliveries, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&buffer->waiters, __ATOMIC_SEQ_CST))
		raw3(SYS_futex, &buffer->deliveries, FUTEX_WAKE_PRIVATE, 1 << 30);
}

static bool buffer_take(struct sdk_buffer *buffer)
{
	return !__atomic_exchange_n(&buffer->is_busy, 1, __ATOMIC_ACQUIRE);
}

static void give_back(struct sdk_buffer *buffer)
{
	__atomic_store_n(&buffer->is_busy, 0, __ATOMIC_RELEASE);
}

static bool is_due(const struct sdk_buffer *buffer, unsigned thread)
{
	return __atomic_load_n(&buffer->state, __ATOMIC_ACQUIRE) == BUFFER_LIVE &&
	       buffer->thread == thread && __atomic_load_n(&buffer->is_wanted, __ATOMIC_SEQ_CST);
}

bool buffers_wait(unsigned thread)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		if (is_due(&buffers[i], thread))
			return true;
	return false;
}

void buffers_deliver(unsigned thread)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++) {
		struct sdk_thread *me = sdk_thread_mine();
		uint64_t before;

		if (!me || !is_due(&buffers[i], thread) || !buffer_take(&buffers[i]))
			continue;
		before = sdk_thread_enter_tool(me, (unsigned)buffers[i].tool);
		if (__atomic_load_n(&buffers[i].state, __ATOMIC_SEQ_CST) == BUFFER_LIVE)
			buffer_deliver(&buffers[i]);
		sdk_thread_leave_tool(me, before);
		give_back(&buffers[i]);
	}
}

static bool is_empty(const struct sdk_buffer *buffer)
{
	return !(__atomic_load_n(&buffer->halves[0].cursor, __ATOMIC_ACQUIRE) |
		 __atomic_load_n(&buffer->halves[1].cursor, __ATOMIC_ACQUIRE)) &&
	       !__atomic_load_n(&buffer->is_busy, __ATOMIC_ACQUIRE);
}

/* True when all that was in it at the beginning has been delivered. */
static bool buffer_flush(struct sdk_buffer *buffer, uint64_t limit_ns)
{
	uint64_t end_ns = monotonic_ns() + limit_ns;
	uint32_t first = __atomic_load_n(&buffer->deliveries, __ATOMIC_SEQ_CST), now = first;

	/* Twice: one may have been under way. */
	while (!is_empty(buffer) && now - first < 2 && monotonic_ns() < end_ns) {
		delivery_ask(buffer);
		delivery_wake(buffer->thread);
		await_delivery(buffer, now, end_ns);
		now = __atomic_load_n(&buffer->deliveries, __ATOMIC_SEQ_CST);
	}
	return is_empty(buffer) || now - first >= 2;
}

void buffers_drain(int tool, uint64_t limit_ns)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		if (__atomic_load_n(&buffers[i].state, __ATOMIC_ACQUIRE) == BUFFER_LIVE &&
		    buffers[i].tool == tool && delivery_has(buffers[i].thread) &&
		    !delivery_is_me(buffers[i].thread))
			(void)buffer_flush(&buffers[i], limit_ns);
}

static void unmap_all(struct sdk_buffer *buffer)
{
	for (unsigned i = 0; i < 2; i++)
		if (buffer->halves[i].memory)
			raw2(SYS_munmap, buffer->halves[i].memory, buffer->mapped);
	if (buffer->headers)
		raw2(SYS_munmap, buffer->headers, buffer->size / RECORD_LEAST * 8 + 8);
}

static void free_entry(struct sdk_buffer *buffer)
{
	unmap_all(buffer);
	memset(buffer->halves, 0, sizeof(buffer->halves));
	buffer->headers = NULL;
	buffer->drops = buffer->is_wanted = buffer->is_busy = buffer->active = 0;
	__atomic_store_n(&buffer->state, BUFFER_FREE, __ATOMIC_RELEASE);
}

/* Frees it when its last writer has come out; one who does not keeps the memory. */
static void buffer_bury(struct sdk_buffer *buffer)
{
	struct timespec pause = { 0, GLANCE_NS };
	uint64_t end_ns = monotonic_ns() + PATIENCE_NS;

	while (__atomic_load_n(&buffer->writers, __ATOMIC_SEQ_CST) && monotonic_ns() < end_ns)
		raw2(SYS_nanosleep, &pause, 0);
	if (__atomic_load_n(&buffer->writers, __ATOMIC_SEQ_CST)) {
		records_drop(buffer, 1);
		return; /* and its entry is never used again */
	}
	free_entry(buffer);
}

static bool kill_buffer(struct sdk_buffer *buffer)
{
	uint32_t live = BUFFER_LIVE;

	if (!buffer_take(buffer))
		return false;
	if (!__atomic_compare_exchange_n(&buffer->state, &live, BUFFER_DYING, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
		give_back(buffer);
		return false;
	}
	buffer_bury(buffer);
	return true;
}

void buffers_forget(int tool)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		if (__atomic_load_n(&buffers[i].state, __ATOMIC_ACQUIRE) == BUFFER_LIVE &&
		    buffers[i].tool == tool)
			(void)kill_buffer(&buffers[i]);
}

void buffers_adopt(void)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		buffers[i].writers = buffers[i].is_busy = buffers[i].is_wanted =
			buffers[i].waiters = 0;
}

static struct sdk_buffer *buffer_claim(void)
{
	for (unsigned i = 0; i < BUFFERS_MAX; i++) {
		uint32_t nobody = BUFFER_FREE;

		if (__atomic_compare_exchange_n(&buffers[i].state, &nobody, BUFFER_MAKING, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &buffers[i];
	}
	return NULL;
}

static bool map_all(struct sdk_buffer *buffer)
{
	uint64_t records = buffer->size / RECORD_LEAST + 1;

	buffer->mapped = buffer->size + records * sizeof(struct slot_head);
	buffer->halves[0].memory = memory_map(buffer->mapped);
	buffer->halves[1].memory = memory_map(buffer->mapped);
	buffer->headers = memory_map(buffer->size / RECORD_LEAST * 8 + 8);
	return buffer->halves[0].memory && buffer->halves[1].memory && buffer->headers;
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
	if (!map_all(buffer)) {
		free_entry(buffer);
		return SDK_OUT_OF_RESOURCES;
	}
	buffer->handle =
		(buffer->handle / BUFFERS_MAX + 1) * BUFFERS_MAX + (uint64_t)(buffer - buffers);
	/* Release: who finds it finds it whole. */
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
		return is_empty(buffer) ? SDK_SUCCESS : SDK_BUFFER_BUSY;
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
