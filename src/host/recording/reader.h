/*
 * Reading a .limpet file chunk by chunk.  Every byte is foreign: a returned chunk has the right
 * checksum and is in a buffer of the reader's, valid until the next call.
 */
#pragma once

#include "host/core/err.h"
#include "host/recording/items.h"

struct decoded_samples;

struct chunk {
	uint16_t kind, version;
	uint64_t at; /* offset of its head in the file */
	struct cursor payload;
	struct decoded_samples *samples; /* of one of samples that was read ahead; else NULL */
};

/* A file may unpack to so many times its size: stacks of 64 equal frames for each call of a tight
 * loop, the best that was measured, make 21 times. */
#define READER_UNPACKED_RATIO 64u
#define READER_UNPACKED_LEAST ((uint64_t)4 << 20)

struct recording_reader;

/* Fails when the file is no recording or of a version that is too new. */
int reader_open(const char *path, struct recording_reader **ret, struct err *err) MUST_CHECK;
/* The same for a descriptor, which becomes the reader's. */
int reader_open_fd(int fd, const char *name, struct recording_reader **ret,
		   struct err *err) MUST_CHECK;
void reader_close(struct recording_reader *reader);
/* The file may have grown: reader_next() continues where it stopped.  0 or -errno. */
int reader_follow(struct recording_reader *reader) MUST_CHECK;

/* Bytes of the file. */
uint64_t reader_size(const struct recording_reader *reader);
/* Writes the whole file, as it is, to a descriptor.  0 or -errno. */
int reader_copy(const struct recording_reader *reader, int to) MUST_CHECK;
/* From now on it may unpack to anything. */
void reader_believe(struct recording_reader *reader);

/* 1: the next chunk; 0: there are no more whole ones. */
int reader_next(struct recording_reader *reader, struct chunk *ret);

/* The chunk at an offset where one was before; -EPROTO when it is not there any more. */
int reader_at(struct recording_reader *reader, uint64_t at, struct chunk *ret) MUST_CHECK;

/* Where a reader puts a chunk: as it is in the file, and unpacked.  Zero is empty. */
struct reader_buffers {
	struct bytes stored, raw;
};

/* Swaps buffers: earlier chunks stay in the old ones. */
void reader_swap(struct recording_reader *reader, struct reader_buffers *buffers);
void reader_buffers_done(struct reader_buffers *buffers);

/* The damaged parts. */
struct reader_damage {
	uint64_t chunks;    /* with a wrong checksum: skipped */
	uint64_t cut_bytes; /* at the end, no whole chunk */
	uint64_t beyond;    /* chunks that unpack to more than a file of this size can hold */
};

struct reader_damage reader_damage(const struct recording_reader *reader);
