/*
 * CRC-32, four bytes at a time.  The tables are made once for each process.
 */
#include <pthread.h>
#include <string.h>

#include "host/recording/format.h"

#define STEP 4u

static uint32_t tables[STEP][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static uint32_t one_byte(uint32_t value)
{
	for (unsigned bit = 0; bit < 8; bit++)
		value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
	return value;
}

static void make_tables(void)
{
	for (uint32_t i = 0; i < 256; i++)
		tables[0][i] = one_byte(i);
	for (unsigned step = 1; step < STEP; step++)
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t before = tables[step - 1][i];

			tables[step][i] = before >> 8 ^ tables[0][before & 0xff];
		}
}

uint32_t checksum_of(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint32_t sum = UINT32_MAX;

	pthread_once(&tables_once, make_tables);
	for (; size >= STEP; size -= STEP, at += STEP) {
		uint32_t word;

		memcpy(&word, at, sizeof(word));
		word ^= sum;
		sum = tables[3][word & 0xff] ^ tables[2][word >> 8 & 0xff] ^
		      tables[1][word >> 16 & 0xff] ^ tables[0][word >> 24];
	}
	for (; size > 0; size--, at++)
		sum = sum >> 8 ^ tables[0][(sum ^ *at) & 0xff];
	return ~sum;
}
