/*
 * Runs in the target (claim, reserve, commit) and in the host (layout, check, read, release): no
 * libc, no allocation, no waiting.
 */
#include "shared/wire/ring.h"

#include <errno.h>
#include <string.h>

#define PAGE 65536u /* the largest of the supported machines */

size_t rings_layout(uint32_t slot_count, uint64_t ring_size, uint32_t function_max,
		    struct rings *ret)
{
	uint64_t data_at = ALIGN_UP(RINGS_SLOTS_AT + slot_count * sizeof(struct ring), PAGE);
	uint64_t functions_at = data_at + slot_count * ring_size;
	uint64_t size = ALIGN_UP(functions_at + function_max * sizeof(struct trace_function), PAGE);

	if (ret)
		*ret = (struct rings){ .magic = RINGS_MAGIC,
				       .version = RINGS_VERSION,
				       .slot_count = slot_count,
				       .size = size,
				       .ring_size = ring_size,
				       .data_at = data_at,
				       .functions_at = functions_at,
				       .function_max = function_max };
	return size;
}

int rings_check(const struct rings *rings, size_t size)
{
	struct rings expected;

	if (size < RINGS_SLOTS_AT || memcmp(rings->magic, RINGS_MAGIC, sizeof(rings->magic)) ||
	    rings->version != RINGS_VERSION || rings->size != size)
		return -EPROTO;
	if (!rings->slot_count || rings->slot_count > RINGS_SLOTS_MAX ||
	    rings->function_max > TRACE_FUNCTIONS_MAX || rings->ring_size < 4 * RECORD_MAX_BYTES ||
	    rings->ring_size > size || (rings->ring_size & (rings->ring_size - 1)))
		return -EPROTO;
	if (rings_layout(rings->slot_count, rings->ring_size, rings->function_max, &expected) !=
	    size)
		return -EPROTO;
	return rings->data_at == expected.data_at && rings->functions_at == expected.functions_at
		       ? 0
		       : -EPROTO;
}

static bool ring_take(struct ring *ring)
{
	uint32_t free = RING_FREE;

	/* Acquire: pairs with the release of the slot, after the host's last read of it. */
	return __atomic_compare_exchange_n(&ring->state, &free, RING_CLAIMED, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

bool ring_claim(struct rings *rings, int32_t tid, const char *name, struct ring_writer *ret)
{
	/* Each thread starts at another slot. */
	uint32_t first = (uint32_t)tid * 2654435761u % rings->slot_count;

	for (uint32_t i = 0; i < rings->slot_count; i++) {
		uint32_t index = (first + i) % rings->slot_count;
		struct ring *ring = rings_slot(rings, index);

		if (!ring_take(ring))
			continue;
		ring->tid = tid;
		ring->generation++;
		ring->wants_python = 0;
		__atomic_store_n(&ring->python_state, 0, __ATOMIC_RELAXED);
		memcpy(ring->name, name, sizeof(ring->name));
		/* Release: pairs with the acquire in ring_owner(); publishes the identity. */
		__atomic_store_n(&ring->state, RING_USED, __ATOMIC_RELEASE);
		*ret = (struct ring_writer){ ring, rings_data(rings, index), rings->ring_size - 1 };
		return true;
	}
	return false;
}

static bool has_room(struct ring *ring, uint64_t mask, size_t size)
{
	if (ring->head + size - ring->tail_seen <= mask + 1)
		return true;
	/* Acquire: pairs with the release of the tail in ring_read(). */
	ring->tail_seen = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	return ring->head + size - ring->tail_seen <= mask + 1;
}

/* A record never wraps around the end: the rest is padding. */
static void fill_up(struct ring_writer *writer, size_t rest)
{
	struct ring *ring = writer->ring;
	struct record *pad = (struct record *)(writer->data + (ring->head & writer->mask));

	*pad = (struct record){ (uint16_t)MIN(rest, (size_t)UINT16_MAX & ~7u), RECORD_PAD, 0 };
	__atomic_store_n(&ring->head, ring->head + rest, __ATOMIC_RELEASE);
}

bool ring_has_room(const struct ring_writer *writer, size_t size)
{
	return has_room(writer->ring, writer->mask, 2 * size);
}

void *ring_reserve(struct ring_writer *writer, size_t size)
{
	struct ring *ring = writer->ring;
	size_t rest = writer->mask + 1 - (ring->head & writer->mask);

	if (!has_room(ring, writer->mask, rest < size ? rest + size : size)) {
		/* Atomic for the host, which reads it meanwhile; no other thread writes it. */
		__atomic_store_n(&ring->drops[DROP_FULL], ring->drops[DROP_FULL] + 1,
				 __ATOMIC_RELAXED);
		return NULL;
	}
	if (rest < size)
		fill_up(writer, rest);
	return writer->data + (ring->head & writer->mask);
}

void ring_commit(struct ring_writer *writer, size_t size)
{
	struct ring *ring = writer->ring;

	ring->records++;
	/* Release: pairs with the acquire in ring_read(); publishes the record. */
	__atomic_store_n(&ring->head, ring->head + size, __ATOMIC_RELEASE);
}

/* The bytes behind the fixed part of a record that has no list of items; SIZE_MAX: unsound. */
static size_t record_bytes(const struct record *record)
{
	switch (record->kind) {
	case RECORD_STACK_PART:
		return ((const struct record_stack_part *)record)->bytes <= STACK_COPY_MAX
			       ? 0
			       : SIZE_MAX;
	case RECORD_NAME:
		return ((const struct record_name *)record)->space < NAME_SPACES
			       ? ((const struct record_name *)record)->bytes
			       : SIZE_MAX;
	default:
		return ((const struct record_text *)record)->bytes;
	}
}

int record_check(const struct record *record, size_t room)
{
	static const struct {
		size_t fixed, item; /* item: its size; 0: no items */
		unsigned most;      /* items */
		bool is_list;
	} shapes[RECORD_KINDS] = {
		[RECORD_CALL] = { sizeof(struct record_call), sizeof(uint64_t), RECORD_VALUES_MAX,
				  true },
		[RECORD_STACK] = { sizeof(struct record_stack), sizeof(uint64_t), RECORD_FRAMES_MAX,
				   true },
		[RECORD_TEXT] = { sizeof(struct record_text) },
		[RECORD_NAME] = { sizeof(struct record_name) },
		[RECORD_COUNTS] = { sizeof(struct record_counts), sizeof(struct record_count),
				    UINT8_MAX, true },
		[RECORD_STACK_NUMBER] = { sizeof(struct record_stack_number), 0, UINT8_MAX, true },
		[RECORD_STACK_PART] = { sizeof(struct record_stack_part) },
		[RECORD_PYTHON] = { sizeof(struct record_python), sizeof(struct interpreted_frame),
				    RECORD_PYTHON_FRAMES_MAX, true },
	};
	size_t fixed;

	if (room < sizeof(uint64_t) || record->size > room || record->size > RECORD_MAX_BYTES ||
	    record->size % RECORD_ALIGNMENT || record->kind >= RECORD_KINDS ||
	    !shapes[record->kind].fixed || record->size < shapes[record->kind].fixed)
		return -EPROTO;
	fixed = shapes[record->kind].fixed;
	if (!shapes[record->kind].is_list)
		return record_bytes(record) <= record->size - fixed ? 0 : -EPROTO;
	return record->count <= shapes[record->kind].most &&
			       record->size == fixed + record->count * shapes[record->kind].item
		       ? 0
		       : -EPROTO;
}

static long skip_to(struct ring *ring, uint64_t head, long code)
{
	__atomic_store_n(&ring->tail, head, __ATOMIC_RELEASE);
	return code;
}

/* Copies the record at the tail; returns how many bytes may belong to it.  The copy is checked, not
 * the original: the target may write meanwhile, so its size is read once. */
static size_t copy_next(const struct ring *ring, const unsigned char *data, uint64_t ring_size,
			uint64_t head, void *into)
{
	uint64_t tail = ring->tail, at = tail & (ring_size - 1);
	size_t room = MIN(MIN(head - tail, ring_size - at), (uint64_t)RECORD_MAX_BYTES);
	struct record *record = into;

	if (room < sizeof(uint64_t))
		return 0;
	memcpy(into, data + at, sizeof(uint64_t));
	if (record->size > sizeof(uint64_t) && record->size <= room)
		memcpy((char *)into + sizeof(uint64_t), data + at + sizeof(uint64_t),
		       record->size - sizeof(uint64_t));
	return room;
}

/* Skips the padding at the ring's end. */
static void skip_pad(struct ring *ring, uint64_t ring_size, uint64_t head)
{
	uint64_t rest = ring_size - (ring->tail & (ring_size - 1));

	skip_to(ring, ring->tail + MIN(rest, head - ring->tail), 0);
}

long ring_read(struct ring *ring, const unsigned char *data, uint64_t ring_size, void *into,
	       size_t room)
{
	/* Acquire: pairs with the writer's commit. */
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	struct record *record = into;
	size_t size;

	if (room < RECORD_MAX_BYTES || head - ring->tail > ring_size || head % RECORD_ALIGNMENT)
		return skip_to(ring, ALIGN_DOWN(head, RECORD_ALIGNMENT), -EPROTO);
	if (head == ring->tail)
		return 0;
	size = copy_next(ring, data, ring_size, head, into);
	if (size && record->kind == RECORD_PAD) {
		skip_pad(ring, ring_size, head);
		if (head == ring->tail)
			return 0;
		size = copy_next(ring, data, ring_size, head, into);
	}
	if (record_check(record, size))
		return skip_to(ring, head, -EPROTO);
	return skip_to(ring, ring->tail + record->size, record->size);
}

bool ring_owner(const struct ring *ring, struct ring_owner *ret)
{
	/* Acquire: pairs with the release in ring_claim(), which publishes the ring's identity. */
	if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != RING_USED)
		return false;
	ret->tid = ring->tid;
	ret->generation = ring->generation;
	memcpy(ret->name, ring->name, sizeof(ret->name));
	ret->name[sizeof(ret->name) - 1] = '\0';
	return true;
}

bool ring_wants_python(struct ring *ring)
{
	return __atomic_load_n(&ring->wants_python, __ATOMIC_RELAXED) &&
	       __atomic_exchange_n(&ring->wants_python, 0, __ATOMIC_RELAXED);
}

void ring_set_python(struct ring *ring, uint64_t state, uint64_t identity)
{
	/* In between it is not known: the old state has another identity. */
	__atomic_store_n(&ring->python_state, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->python_identity, identity, __ATOMIC_RELEASE);
	/* Release: pairs with ring_python(). */
	__atomic_store_n(&ring->python_state, state, __ATOMIC_RELEASE);
}

uint64_t ring_python(struct ring *ring, uint64_t *ret_identity)
{
	/* Acquire: pairs with the release in ring_set_python(): the identity is written before. */
	uint64_t state = __atomic_load_n(&ring->python_state, __ATOMIC_ACQUIRE);

	*ret_identity = __atomic_load_n(&ring->python_identity, __ATOMIC_RELAXED);
	return state;
}

void ring_ask_python(struct ring *ring)
{
	if (!__atomic_load_n(&ring->wants_python, __ATOMIC_RELAXED))
		__atomic_store_n(&ring->wants_python, 1, __ATOMIC_RELAXED);
}

uint64_t ring_drops(const struct ring *ring, enum drop_reason reason)
{
	return __atomic_load_n(&ring->drops[reason], __ATOMIC_RELAXED);
}

uint64_t ring_turned(const struct ring *ring)
{
	return __atomic_load_n(&ring->turned, __ATOMIC_RELAXED);
}

uint64_t rings_drops_without_ring(const struct rings *rings)
{
	return __atomic_load_n(&rings->drops_without_ring, __ATOMIC_RELAXED);
}

uint32_t rings_function_count(const struct rings *rings)
{
	/* Acquire: the entries were written before. */
	return __atomic_load_n(&rings->function_count, __ATOMIC_ACQUIRE);
}

void ring_release(struct ring *ring)
{
	__atomic_store_n(&ring->state, RING_FREE, __ATOMIC_RELEASE);
}
