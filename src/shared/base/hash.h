/*
 * FNV-1a, 64 bits: the one hash of host, injector and target.  For tables and for comparing
 * contents, not against an attacker who makes two things hash alike.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_SEED  0xcbf29ce484222325ull
#define HASH_PRIME 0x100000001b3ull

static inline uint64_t hash_add_byte(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * HASH_PRIME;
}

static inline uint64_t hash_add_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash_add_byte(hash, (unsigned char)*text);
	return hash;
}

static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;
	uint64_t hash = HASH_SEED;

	/* clang's analyzer tracks larger numbers as wholes, not their bytes. */
	for (size_t i = 0; i < size; i++)
		hash = hash_add_byte(hash, at[i]); /* NOLINT(clang-analyzer-core.CallAndMessage) */
	return hash;
}
