/*
 * Lists the contents of HotSpot's code cache.  It changes during the reading, and is foreign: each
 * size is checked against its container.
 */
#include "host/java/heap.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "shared/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT_BITS_MIN 5u
#define SEGMENT_BITS_MAX 16u
#define SEGMENTS_MAX     ((uint64_t)16 << 20)
#define BATCH            512u
#define HEADER_MAX       1024u
#define PART_ALIGNMENT   32u /* of code: HotSpot's CodeEntryAlignment */
#define PARTS_MAX        8192u

static int read_memory(const struct java_memory *memory, uint64_t address, void *into, size_t size)
{
	return memory->reader.read(memory->reader.context, address, into, size);
}

static int read_word(const struct java_memory *memory, uint64_t address, uint64_t *ret)
{
	return read_memory(memory, address, ret, sizeof(*ret));
}

/* Which heaps: one, or an array of pointers to them. */
static int list_heaps(uint64_t ret[JAVA_HEAPS_MAX], const struct java_memory *memory,
		      const struct java_layout *layout)
{
	uint64_t array = 0, data = 0;
	int32_t count = 0;
	int r;

	if (!layout->is_known[CODE_CACHE_HEAPS]) {
		r = read_word(memory, layout->fields[CODE_CACHE_HEAP], &ret[0]);
		return r ? r : ret[0] != 0;
	}
	r = read_word(memory, layout->fields[CODE_CACHE_HEAPS], &array);
	if (r || !array)
		return r;
	r = read_memory(memory, array + layout->fields[ARRAY_LENGTH], &count, sizeof(count));
	if (!r)
		r = read_word(memory, array + layout->fields[ARRAY_DATA], &data);
	if (r)
		return r;
	if (count < 0 || count > JAVA_HEAPS_MAX)
		return -EBADMSG;
	r = read_memory(memory, data, ret, (size_t)count * sizeof(*ret));
	return r ? r : count;
}

static int read_heap(struct java_heap *ret, const struct java_memory *memory,
		     const struct java_layout *layout, uint64_t heap)
{
	uint64_t space = heap + layout->fields[HEAP_MEMORY];
	uint64_t map = heap + layout->fields[HEAP_SEGMENTS];
	int32_t bits = 0;
	int r = read_word(memory, space + layout->fields[SPACE_LOW], &ret->low);

	if (!r)
		r = read_word(memory, space + layout->fields[SPACE_HIGH], &ret->high);
	if (!r)
		r = read_word(memory, map + layout->fields[SPACE_LOW], &ret->segments);
	if (!r)
		r = read_memory(memory, heap + layout->fields[HEAP_SEGMENT_SIZE], &bits,
				sizeof(bits));
	if (r)
		return r;
	ret->segment_bits = (unsigned)bits;
	if (ret->high - ret->low > JAVA_HEAP_BYTES && ret->high > ret->low)
		return -EFBIG;
	if (ret->high < ret->low || ret->segment_bits < SEGMENT_BITS_MIN ||
	    ret->segment_bits > SEGMENT_BITS_MAX ||
	    (ret->high - ret->low) >> ret->segment_bits > SEGMENTS_MAX)
		return -EBADMSG;
	return 0;
}

static int compare_heaps(const void *a, const void *b)
{
	const struct java_heap *one = a, *other = b;

	return one->low < other->low ? -1 : one->low > other->low;
}

int java_heaps_read(struct java_heap ret[JAVA_HEAPS_MAX], const struct java_memory *memory,
		    const struct java_layout *layout)
{
	uint64_t heaps[JAVA_HEAPS_MAX] = { 0 };
	int count = list_heaps(heaps, memory, layout), r = 0;

	for (int i = 0; !r && i < count; i++)
		r = read_heap(&ret[i], memory, layout, heaps[i]);
	if (r || count <= 0)
		return r ? r : count;
	qsort(ret, (size_t)count, sizeof(*ret), compare_heaps);
	for (int i = 1; i < count; i++)
		if (ret[i].low < ret[i - 1].high)
			return -EBADMSG;
	return count;
}

/* Addresses at which blocks begin. */
static int list_blocks(uint64_t **ret, size_t *ret_count, const struct java_memory *memory,
		       const struct java_heap *heap)
{
	size_t segments = (size_t)((heap->high - heap->low) >> heap->segment_bits), room = 0;
	CLEANUP(free) unsigned char *map = malloc(segments + 1);
	int r = map ? read_memory(memory, heap->segments, map, segments) : -ENOMEM;

	*ret = NULL;
	*ret_count = 0;
	for (size_t i = 0; !r && i < segments && *ret_count < JAVA_BLOBS_MAX; i++) {
		if (map[i])
			continue;
		r = make_room(ret, *ret_count, &room, sizeof(**ret));
		if (!r)
			(*ret)[(*ret_count)++] = heap->low + ((uint64_t)i << heap->segment_bits);
	}
	return r;
}

/* The part of a block that is read: its own header and the blob's. */
static size_t header_size(const struct java_layout *layout)
{
	static const enum java_field fields[] = { BLOB_NAME,           BLOB_FRAME_SIZE,
						  BLOB_FRAME_COMPLETE, BLOB_CODE_BEGIN,
						  BLOB_CODE_END,       BLOB_CODE_OFFSET,
						  BLOB_DATA_OFFSET };
	uint64_t size = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(fields); i++)
		size = MAX(size, layout->fields[fields[i]]);
	size = MAX(size + layout->block_size,
		   MAX(layout->fields[BLOCK_LENGTH], layout->fields[BLOCK_USED]));
	return (size_t)size + sizeof(uint64_t);
}

struct header {
	const unsigned char *bytes;
	const struct java_layout *layout;
};

static uint64_t word_of(const struct header *header, size_t at)
{
	uint64_t word;

	memcpy(&word, header->bytes + at, sizeof(word));
	return word;
}

static uint64_t header_field(const struct header *header, enum java_field which)
{
	return word_of(header, header->layout->block_size + (size_t)header->layout->fields[which]);
}

static int32_t header_number(const struct header *header, enum java_field which)
{
	return (int32_t)header_field(header, which);
}

/* In segments; 0: it is free.  The length has four bytes where the flag follows it at once. */
static uint64_t block_length(const struct header *header)
{
	const uint64_t *fields = header->layout->fields;
	uint64_t length = word_of(header, (size_t)fields[BLOCK_LENGTH]);

	if (fields[BLOCK_USED] == fields[BLOCK_LENGTH] + 4)
		length = (uint32_t)length;
	return header->bytes[fields[BLOCK_USED]] ? length : 0;
}

/* Of fields that do not change while a blob lives. */
static uint64_t mark_of(const struct header *header, size_t size)
{
	size_t begin = header->layout->block_size;

	return hash_bytes(header->bytes + begin, size > begin ? size - begin : 0);
}

static void read_code(const struct header *header, struct java_blob *ret)
{
	const bool *is_known = header->layout->is_known;

	ret->code_begin =
		is_known[BLOB_CODE_BEGIN]
			? header_field(header, BLOB_CODE_BEGIN)
			: ret->address + (uint64_t)(int64_t)header_number(header, BLOB_CODE_OFFSET);
	ret->code_end =
		is_known[BLOB_CODE_END]
			? header_field(header, BLOB_CODE_END)
			: ret->address + (uint64_t)(int64_t)header_number(header, BLOB_DATA_OFFSET);
}

/* False: the block is free, or is being changed. */
static bool read_blob(struct java_blob *ret, const struct header *header, size_t size,
		      uint64_t block, const struct java_heap *heap, uint64_t *ret_end)
{
	uint64_t length = block_length(header), room = heap->high - block;
	int32_t frame = header_number(header, BLOB_FRAME_SIZE);
	int32_t complete = header_number(header, BLOB_FRAME_COMPLETE);

	if (!length || length > room >> heap->segment_bits)
		return false;
	*ret_end = block + (length << heap->segment_bits);
	*ret = (struct java_blob){ .address = block + header->layout->block_size,
				   .name = header_field(header, BLOB_NAME),
				   .mark = mark_of(header, size),
				   .frame_size = frame > 0 ? (uint32_t)frame : 0,
				   .frame_complete =
					   complete >= 0 ? (uint32_t)complete : UINT32_MAX };
	read_code(header, ret);
	return ret->code_begin >= ret->address && ret->code_begin < ret->code_end &&
	       ret->code_end <= *ret_end;
}

static size_t read_batch(struct java_blob *into, const uint64_t *blocks, size_t count,
			 const struct java_memory *memory, const struct java_layout *layout,
			 const struct java_heap *heap, uint64_t *end, unsigned char *headers)
{
	size_t size = header_size(layout), made = 0;

	memory->read_many(memory->reader.context, blocks, count, size, headers);
	for (size_t i = 0; i < count; i++) {
		const struct header header = { headers + i * size, layout };
		uint64_t behind;

		if (blocks[i] < *end ||
		    !read_blob(&into[made], &header, size, blocks[i], heap, &behind))
			continue;
		*end = behind;
		made++;
	}
	return made;
}

int java_blobs_read(struct java_blob **ret, size_t *ret_count, const struct java_memory *memory,
		    const struct java_layout *layout, const struct java_heap *heap)
{
	CLEANUP(free) uint64_t *blocks = NULL;
	CLEANUP(free) unsigned char *headers = NULL;
	struct java_blob *blobs;
	size_t count, made = 0;
	uint64_t end = 0;
	int r = list_blocks(&blocks, &count, memory, heap);

	if (r)
		return r;
	if (header_size(layout) > HEADER_MAX)
		return -EBADMSG;
	blobs = calloc(count + 1, sizeof(*blobs));
	headers = malloc(BATCH * HEADER_MAX);
	if (!blobs || !headers) {
		free(blobs);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i += BATCH)
		made += read_batch(blobs + made, blocks + i, MIN(BATCH, count - i), memory, layout,
				   heap, &end, headers);
	*ret = blobs;
	*ret_count = made;
	return 0;
}

static int read_part(struct java_part *ret, const struct java_memory *memory,
		     const struct java_layout *layout, uint64_t address, uint64_t room)
{
	int32_t size = 0;
	int r = read_memory(memory, address + layout->fields[PART_SIZE], &size, sizeof(size));

	if (!r)
		r = read_word(memory, address + layout->fields[PART_DESCRIPTION],
			      &ret->description);
	if (r)
		return r;
	ret->address = address;
	ret->size = (uint32_t)size;
	ret->header = (uint32_t)MIN(
		ALIGN_UP(address + layout->part_size, (uint64_t)PART_ALIGNMENT) - address,
		ret->size);
	return size <= 0 || ret->size > room ? -EBADMSG : 0;
}

/* From begin to end of the queue. */
static int read_queue(uint64_t *ret_begin, uint64_t *ret_end, const struct java_memory *memory,
		      const struct java_layout *layout)
{
	uint64_t queue = 0, buffer = 0;
	int32_t begin = 0, end = 0;
	int r = read_word(memory, layout->fields[INTERPRETER_CODE], &queue);

	if (!r && !queue)
		return -ENOENT;
	if (!r)
		r = read_word(memory, queue + layout->fields[QUEUE_BUFFER], &buffer);
	if (!r)
		r = read_memory(memory, queue + layout->fields[QUEUE_BEGIN], &begin, sizeof(begin));
	if (!r)
		r = read_memory(memory, queue + layout->fields[QUEUE_END], &end, sizeof(end));
	if (!r && (begin < 0 || end < begin))
		r = -EBADMSG;
	*ret_begin = buffer + (uint32_t)begin;
	*ret_end = buffer + (uint32_t)end;
	return r;
}

int java_parts_read(struct java_part **ret, size_t *ret_count, const struct java_memory *memory,
		    const struct java_layout *layout, uint64_t begin, uint64_t end)
{
	CLEANUP(free) struct java_part *parts = NULL;
	size_t count = 0, room = 0;
	uint64_t at, queue_end;
	int r = read_queue(&at, &queue_end, memory, layout);

	*ret = NULL;
	*ret_count = 0;
	if (r == -ENOMEM)
		return r;
	if (r || at < begin || queue_end > end || at > queue_end)
		return 0;
	while (at < queue_end && count < PARTS_MAX) {
		r = make_room(&parts, count, &room, sizeof(*parts));
		if (r)
			return r;
		if (read_part(&parts[count], memory, layout, at, queue_end - at))
			return 0;
		at += parts[count++].size;
	}
	*ret = TAKE(parts);
	*ret_count = count;
	return 0;
}
