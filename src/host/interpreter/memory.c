/*
 * Texts from foreign memory.  Lengths are foreign, too: each is bounded before it is used.
 */
#include "host/interpreter/memory.h"

#include "host/core/text/foreign.h"
#include "host/core/text/utf8.h"

#include <errno.h>
#include <stdlib.h>

#define PIECE 64u /* a string may end just before memory that is not there */

static int text_keep(const char *bytes, char **ret)
{
	*ret = utf8_mended(bytes);
	if (!*ret)
		return -ENOMEM;
	foreign_clean(*ret, "");
	return 0;
}

int target_text(const struct target_memory *memory, uint64_t address, uint64_t length, char **ret)
{
	char bytes[TARGET_TEXT_MAX + 1];
	size_t size = (size_t)MIN(length, TARGET_TEXT_MAX);

	if (target_read(memory, address, bytes, size))
		return -EFAULT;
	bytes[size] = '\0';
	return text_keep(bytes, ret);
}

int target_string(const struct target_memory *memory, uint64_t address, char **ret)
{
	char bytes[TARGET_TEXT_MAX + PIECE + 1];
	size_t size = 0;

	while (size < TARGET_TEXT_MAX) {
		size_t piece = PIECE - (size_t)((address + size) % PIECE);

		if (target_read(memory, address + size, bytes + size, piece))
			return -EFAULT;
		if (memchr(bytes + size, '\0', piece))
			return text_keep(bytes, ret);
		size += piece;
	}
	bytes[TARGET_TEXT_MAX] = '\0';
	return text_keep(bytes, ret);
}

int target_bytes(const struct target_memory *memory, uint64_t address, size_t size,
		 unsigned char **ret)
{
	unsigned char *bytes = malloc(size + 1);

	if (!bytes)
		return -ENOMEM;
	if (size && target_read(memory, address, bytes, size)) {
		free(bytes);
		return -EFAULT;
	}
	*ret = bytes;
	return 0;
}

uint64_t target_word(const struct target_memory *memory, uint64_t address)
{
	uint64_t word = 0;

	return target_read(memory, address, &word, sizeof(word)) ? 0 : word;
}
