/*
 * Reads the fields of CUPTI's records. The offsets are those of its public headers from CUDA 11.0
 * (version 13) to 13.0 (version 130001): the fields read here have not moved in between, only new
 * fields were appended. An unknown version is refused. Runs in CUPTI's callbacks: no libc.
 */
#include "target/domains/cuda/cuda.h"

/* CUPTI's versions are a counter up to CUDA 12.9; from 13.0 on they are the release itself. */
enum {
	CUDA_11_0 = 13,
	CUDA_12_LAST = 30,
	CUDA_13_0 = 130000,
	CUDA_14_0 = 140000,
};

enum kernel_offset {
	KERNEL_START = 16,
	KERNEL_END = 24,
	KERNEL_DEVICE = 40,
	KERNEL_CONTEXT = 44,
	KERNEL_STREAM = 48,
	KERNEL_GRID = 52,
	KERNEL_BLOCK = 64,
	KERNEL_STATIC_SHARED = 76,
	KERNEL_DYNAMIC_SHARED = 80,
	KERNEL_LOCAL = 84,
	KERNEL_CORRELATION = 92,
	KERNEL_NAME = 104,
	KERNEL_GRAPH_NODE = 144,
};

enum copy_offset {
	COPY_KIND = 4,
	COPY_BYTES = 8,
	COPY_START = 16,
	COPY_END = 24,
	COPY_DEVICE = 32,
	COPY_CONTEXT = 36,
	COPY_STREAM = 40,
	COPY_CORRELATION = 44,
	COPY_GRAPH_NODE = 64,
	PEER_FROM = 44,
	PEER_TO = 52,
	PEER_CORRELATION = 60,
	PEER_GRAPH_NODE = 72,
};

enum memory_offset {
	MEMORY_OPERATION = 4,
	MEMORY_KIND = 8,
	MEMORY_CORRELATION = 12,
	MEMORY_AT = 16,
	MEMORY_BYTES = 24,
	MEMORY_TIME = 32,
	MEMORY_DEVICE = 52,
	MEMORY_CONTEXT = 56,
	MEMORY_STREAM = 60,
};

enum call_offset {
	CALL_SITE = 0, /* 0: begin, 1: end */
	CALL_RESULT = 24,
	CALL_MARK = 56,
	CALL_CORRELATION = 64,
};

bool layout_is_known(uint32_t version)
{
	return (version >= CUDA_11_0 && version <= CUDA_12_LAST) ||
	       (version >= CUDA_13_0 && version < CUDA_14_0);
}

static uint32_t read_32(const uint8_t *record, unsigned offset)
{
	return *(const uint32_t *)(record + offset);
}

static uint64_t read_64(const uint8_t *record, unsigned offset)
{
	return *(const uint64_t *)(record + offset);
}

static void read_three(const uint8_t *record, unsigned offset, uint32_t *ret)
{
	for (unsigned i = 0; i < 3; i++)
		ret[i] = read_32(record, offset + 4 * i);
}

enum cupti_kind layout_kind(const uint8_t *record)
{
	return read_32(record, 0);
}

void layout_kernel(const uint8_t *record, struct cupti_kernel *ret)
{
	ret->work = (struct cupti_work){
		read_64(record, KERNEL_START),      read_64(record, KERNEL_END),
		read_32(record, KERNEL_DEVICE),     read_32(record, KERNEL_CONTEXT),
		read_32(record, KERNEL_STREAM),     read_32(record, KERNEL_CORRELATION),
		read_64(record, KERNEL_GRAPH_NODE),
	};
	read_three(record, KERNEL_GRID, ret->grid);
	read_three(record, KERNEL_BLOCK, ret->block);
	ret->shared_bytes =
		read_32(record, KERNEL_STATIC_SHARED) + read_32(record, KERNEL_DYNAMIC_SHARED);
	ret->local_bytes = read_32(record, KERNEL_LOCAL);
	ret->name = (const char *)read_64(record, KERNEL_NAME);
}

static void read_copy(const uint8_t *record, unsigned correlation, struct cupti_copy *ret)
{
	ret->work = (struct cupti_work){
		read_64(record, COPY_START),      read_64(record, COPY_END),
		read_32(record, COPY_DEVICE),     read_32(record, COPY_CONTEXT),
		read_32(record, COPY_STREAM),     read_32(record, correlation),
		read_64(record, COPY_GRAPH_NODE),
	};
	ret->bytes = read_64(record, COPY_BYTES);
	ret->kind = record[COPY_KIND];
	ret->from_device = ret->to_device = ret->work.device;
}

void layout_copy(const uint8_t *record, struct cupti_copy *ret)
{
	read_copy(record, COPY_CORRELATION, ret);
}

void layout_peer_copy(const uint8_t *record, struct cupti_copy *ret)
{
	read_copy(record, PEER_CORRELATION, ret);
	ret->from_device = read_32(record, PEER_FROM);
	ret->to_device = read_32(record, PEER_TO);
	ret->work.graph_node = read_64(record, PEER_GRAPH_NODE);
}

/* A memset record has its value at the offset of a copy's kind, so `kind` is not valid here. */
void layout_memset(const uint8_t *record, struct cupti_copy *ret)
{
	read_copy(record, COPY_CORRELATION, ret);
}

void layout_memory(const uint8_t *record, struct cupti_memory *ret)
{
	*ret = (struct cupti_memory){
		.address = read_64(record, MEMORY_AT),
		.bytes = read_64(record, MEMORY_BYTES),
		.time = read_64(record, MEMORY_TIME),
		.operation = read_32(record, MEMORY_OPERATION),
		.kind = read_32(record, MEMORY_KIND),
		.correlation = read_32(record, MEMORY_CORRELATION),
		.device = read_32(record, MEMORY_DEVICE),
		.context = read_32(record, MEMORY_CONTEXT),
		.stream = read_32(record, MEMORY_STREAM),
	};
}

void layout_call(const void *data, struct cupti_call *ret)
{
	const int32_t *result = (const int32_t *)read_64(data, CALL_RESULT);

	ret->is_exit = read_32(data, CALL_SITE) == 1;
	ret->mark = (uint64_t *)read_64(data, CALL_MARK);
	ret->correlation = read_32(data, CALL_CORRELATION);
	ret->result = ret->is_exit && result ? *result : 0;
}
