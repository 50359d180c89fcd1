/*
 * Records in the form they have in a file: small numbers in place of wide ones.  Times are relative
 * to the end of the call before; values to those of the last call of the same function.  Unpacking
 * restores the records as in the ring.
 */
#pragma once

#include "host/core/bytes.h"
#include "shared/wire/record.h"

#define PACKED_MAX        (4 + 3 * VARINT_MAX + RECORD_FRAMES_MAX * VARINT_MAX + RECORD_MAX_BYTES)
#define PACKER_REMEMBERED 64u

/* The values of earlier records of the same chunk; zero at its beginning. */
struct packer {
	uint64_t end;
	uint64_t values[PACKER_REMEMBERED][RECORD_VALUES_MAX];
	uint64_t frames[RECORD_FRAMES_MAX];
};

/* The record has passed record_check(); `into` has PACKED_MAX bytes.  Returns where it ended. */
unsigned char *pack(struct packer *packer, const struct record *record, unsigned char *into);

/* The next record, in RECORD_MAX_BYTES at `into`; its size, 0 at the end, -EPROTO. */
long unpack(struct packer *packer, struct cursor *cursor, void *into);
