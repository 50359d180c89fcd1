/*
 * Foreign memory: words and texts of it.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdint.h>
#include <string.h>

/* 0: all of it was read. */
struct target_memory {
	int (*read)(void *context, uint64_t address, void *into, size_t size);
	void *context;
};

static inline int target_read(const struct target_memory *memory, uint64_t address, void *into,
			      size_t size)
{
	return memory->read(memory->context, address, into, size);
}

#define TARGET_TEXT_MAX 1024u /* bytes; a longer one is cut */

/* Of this length; the caller's to free, UTF-8, without control characters.  -EFAULT, -ENOMEM. */
int target_text(const struct target_memory *memory, uint64_t address, uint64_t length,
		char **ret) MUST_CHECK;
/* The same up to a zero. */
int target_string(const struct target_memory *memory, uint64_t address, char **ret) MUST_CHECK;

/* So many bytes, the caller's to free.  -EFAULT, -ENOMEM. */
int target_bytes(const struct target_memory *memory, uint64_t address, size_t size,
		 unsigned char **ret) MUST_CHECK;

/* 0 where nothing can be read, as where nothing is. */
uint64_t target_word(const struct target_memory *memory, uint64_t address);

static inline uint64_t word_in(const unsigned char *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static inline uint32_t half_in(const unsigned char *bytes, size_t offset)
{
	uint32_t half;

	memcpy(&half, bytes + offset, sizeof(half));
	return half;
}
