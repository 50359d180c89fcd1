/*
 * The code cache of HotSpot: heaps of blobs, each a piece of code with a description before it.
 */
#pragma once

#include "host/java/layout.h"

#define JAVA_HEAPS_MAX  8
#define JAVA_BLOBS_MAX  (1u << 18)
#define JAVA_HEAP_BYTES ((uint64_t)256 << 20) /* no more of a heap is in use */

/* Foreign memory.  read_many: `size` bytes from each address, stored consecutively; unreadable ones
 * are zero. */
struct java_memory {
	struct memory_reader reader;
	void (*read_many)(void *context, const uint64_t *addresses, size_t count, size_t size,
			  unsigned char *into);
};

struct java_heap {
	uint64_t low, high; /* the part in use */
	uint64_t segments;  /* a byte for each: 0 where a block begins */
	unsigned segment_bits;
};

/* All addresses are within the block, and blocks ascend without touching. */
struct java_blob {
	uint64_t address;
	uint64_t code_begin, code_end;
	uint64_t name;           /* address of its name */
	uint64_t mark;           /* another blob at this address has another one */
	uint32_t frame_size;     /* in words; 0: none */
	uint32_t frame_complete; /* from code_begin; UINT32_MAX: never */
};

/* A function of the interpreter, with the header before it. */
struct java_part {
	uint64_t address, description;
	uint32_t size, header;
};

/* How many there are; 0 while there are none yet.  -EBADMSG: they make no sense. */
int java_heaps_read(struct java_heap ret[JAVA_HEAPS_MAX], const struct java_memory *memory,
		    const struct java_layout *layout) MUST_CHECK;

/* The blobs of a heap that are in use. */
int java_blobs_read(struct java_blob **ret, size_t *ret_count, const struct java_memory *memory,
		    const struct java_layout *layout, const struct java_heap *heap) MUST_CHECK;

/* The parts of the interpreter, ascending, within [begin, end); none where they make no sense. */
int java_parts_read(struct java_part **ret, size_t *ret_count, const struct java_memory *memory,
		    const struct java_layout *layout, uint64_t begin, uint64_t end) MUST_CHECK;
