/*
 * The bytes of a .limpet file, little endian; docs/recording-format.md is the prose.
 *
 *   struct recording_head
 *   struct chunk_head, then length bytes: again and again
 *
 * A file only grows.  However the recording ends, all whole chunks stay readable.
 */
#pragma once

#include "shared/base/macros.h"

#define RECORDING_MAGIC    "limpet\r\n"
#define RECORDING_VERSION  1u
#define CHUNK_MAGIC        0x6b6e6863u /* "chnk" */
#define CHUNK_BYTES_MAX    (16u << 20)
#define CHUNK_VERSION      1u
#define THREAD_NONE        UINT32_MAX
#define BUILD_ID_MAX       32u
#define RECORDS_HEAD_BYTES 16u

struct recording_head {
	char magic[8];
	uint32_t version;
	uint32_t reserved;
};

enum chunk_kind {
	CHUNK_SESSION = 1,
	CHUNK_PROCESS,
	CHUNK_THREAD,
	CHUNK_FUNCTIONS,
	CHUNK_MODULES,
	CHUNK_CLOCK,
	CHUNK_RECORDS,
	CHUNK_DROPS,
	CHUNK_END,
	CHUNK_FILES,
	CHUNK_VARIABLES,
	CHUNK_SAMPLING,
	CHUNK_CODE,
	CHUNK_FRAMES,
	CHUNK_STACKS,
	CHUNK_SAMPLES,
	CHUNK_NAMES,
	CHUNK_GIL,
	CHUNK_SYSCALLS,
	CHUNK_COUNTERS,
	CHUNK_METRICS,
	CHUNK_WINDOWS,
	CHUNK_USAGE,
};

struct chunk_head {
	uint32_t magic;
	uint16_t kind;          /* enum chunk_kind; others are skipped */
	uint16_t version;       /* of the payload: a newer one only has more at its end */
	uint32_t length;        /* bytes behind this head */
	uint32_t raw_length;    /* length after zstd; 0: not compressed */
	uint32_t checksum;      /* CRC-32 of the bytes behind this head */
	uint32_t head_checksum; /* CRC-32 of the fields above */
};

_Static_assert(sizeof(struct recording_head) == 16, "as written down");
_Static_assert(sizeof(struct chunk_head) == 24, "as written down");

/* CRC-32 as zlib, gzip and PNG have it. */
uint32_t checksum_of(const void *bytes, size_t size);
