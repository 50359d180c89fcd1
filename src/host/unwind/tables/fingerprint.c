/*
 * Eight bytes a step: multiplies, then mixes the high bits into the low ones.
 */
#include "host/unwind/tables/fingerprint.h"

#include <string.h>

static uint64_t word_mix(uint64_t so_far, uint64_t word)
{
	so_far = (so_far ^ word) * 0xff51afd7ed558ccdu;
	return so_far ^ so_far >> 32;
}

uint64_t fingerprint(uint64_t so_far, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t word;

	so_far = word_mix(so_far, size);
	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		so_far = word_mix(so_far, word);
	}
	word = 0;
	if (size)
		memcpy(&word, at, size);
	return word_mix(so_far, word);
}
