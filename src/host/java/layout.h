/*
 * The layout of HotSpot: libjvm.so describes its own objects in tables of names and offsets
 * (vmStructs), for debuggers.
 */
#pragma once

#include "shared/elf/image.h"

#include "host/core/err.h"
#include "host/java/code_rows.h"

#include <stdbool.h>

/* The variables of libjvm.so that lead to the tables. */
enum java_symbol {
	JAVA_STRUCTS, /* gHotSpotVMStructs, and the fields of an entry: */
	JAVA_STRUCT_STRIDE,
	JAVA_STRUCT_TYPE,
	JAVA_STRUCT_FIELD,
	JAVA_STRUCT_TYPE_OF_FIELD,
	JAVA_STRUCT_OFFSET,
	JAVA_STRUCT_ADDRESS,
	JAVA_TYPES, /* gHotSpotVMTypes, the same: */
	JAVA_TYPE_STRIDE,
	JAVA_TYPE_NAME,
	JAVA_TYPE_SIZE,
	JAVA_SYMBOLS,
};
extern const char *const java_symbol_names[JAVA_SYMBOLS];

/* Offsets in objects, or addresses of static ones; 0 where there is none. */
enum java_field {
	CODE_CACHE_HEAPS, /* static */
	CODE_CACHE_HEAP,  /* static; JDK 8 */
	INTERPRETER_CODE, /* static */
	MAJOR_VERSION,    /* static; not in JDK 8 */
	ARRAY_LENGTH,
	ARRAY_DATA,
	HEAP_MEMORY,
	HEAP_SEGMENTS,
	HEAP_SEGMENT_SIZE, /* its logarithm */
	SPACE_LOW,
	SPACE_HIGH,
	BLOCK_LENGTH,
	BLOCK_USED,
	BLOB_NAME,
	BLOB_FRAME_SIZE,
	BLOB_FRAME_COMPLETE,
	BLOB_CODE_BEGIN, /* addresses */
	BLOB_CODE_END,
	BLOB_CODE_OFFSET, /* offsets instead; JDK 8 */
	BLOB_DATA_OFFSET,
	QUEUE_BUFFER,
	QUEUE_BEGIN,
	QUEUE_END,
	PART_SIZE,
	PART_DESCRIPTION,
	JAVA_FIELDS,
};

#define JAVA_STUBS_MAX 256

struct java_layout {
	java_rows_adder *add_rows; /* of its machine; set by the caller that opens it */
	uint64_t fields[JAVA_FIELDS];
	bool is_known[JAVA_FIELDS];
	uint64_t stubs[JAVA_STUBS_MAX]; /* addresses of the variables that lead to stubs */
	size_t stub_count;
	uint32_t block_size; /* of the header before each blob */
	uint32_t part_size;  /* of that before each part of the interpreter */
};

/* symbols: their addresses in the process.  -EOPNOTSUPP: the tables lack something, which err
 * names; -EFAULT and others: memory that cannot be read. */
int java_layout_read(struct java_layout *ret, const struct memory_reader *memory,
		     const uint64_t symbols[JAVA_SYMBOLS], struct err *err) MUST_CHECK;
