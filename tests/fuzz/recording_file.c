/*
 * Makes recordings of the bytes that a fuzzer gives.
 */
#include "recording_file.h"

#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/core/bytes.h"
#include "host/core/cleanup.h"
#include "host/recording/format.h"

/* Databases take longer to make than all the rest: of a few recordings only. */
static void put_chunk(struct bytes *file, uint16_t kind, const uint8_t *payload, uint32_t length,
		      uint32_t raw_length)
{
	struct chunk_head head = { CHUNK_MAGIC, kind, 1, length, raw_length, 0, 0 };

	head.checksum = checksum_of(payload, length);
	head.head_checksum = checksum_of(&head, offsetof(struct chunk_head, head_checksum));
	bytes_put(file, &head, sizeof(head));
	bytes_put(file, payload, length);
}

/* Heads are read where they are and mended. */
static void put_mended(struct bytes *file, const uint8_t *at, size_t size)
{
	struct chunk_head head;
	size_t skipped = MIN(size, sizeof(struct recording_head));

	for (at += skipped, size -= skipped; size >= sizeof(head);) {
		uint32_t length;

		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		size -= sizeof(head);
		length = (uint32_t)MIN(head.length, size);
		put_chunk(file, head.kind, at, length, head.raw_length);
		at += length;
		size -= length;
	}
}

static void put_payloads(struct bytes *file, const uint8_t *at, size_t size)
{
	while (size >= 3) {
		uint16_t length = (uint16_t)MIN((size_t)at[1] | (size_t)at[2] << 8, size - 3);

		put_chunk(file, at[0], at + 3, length, 0);
		at += 3 + length;
		size -= 3u + length;
	}
}

int recording_file_make(const uint8_t *bytes, size_t size)
{
	const struct recording_head head = { RECORDING_MAGIC, RECORDING_VERSION, 0 };
	CLEANUP(bytes_done) struct bytes file = { 0 };
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (size && bytes[0] % 3 == 0) {
		bytes_put(&file, bytes + 1, size - 1);
	} else if (size) {
		bytes_put(&file, &head, sizeof(head));
		(bytes[0] % 3 == 1 ? put_mended : put_payloads)(&file, bytes + 1, size - 1);
	}
	must(fd >= 0 && !file.has_failed);
	must(write(fd, file.size ? file.data : bytes, file.size) == (ssize_t)file.size);
	return fd;
}
