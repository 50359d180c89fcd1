/*
 * Loads and stores of one or two registers of aarch64.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TRANSFER_NONE 31u /* the second register where there is only one */

/* A load or store of one or two registers. */
struct transfer {
	unsigned base, first, second; /* second: TRANSFER_NONE if there is only one */
	unsigned size;                /* of each */
	int32_t offset;               /* of the access, from the base's value before */
	int32_t change;               /* of the base */
	bool is_load, is_vector;
	bool is_general; /* of whole X registers */
};

static inline unsigned word_bits(uint32_t word, unsigned low, unsigned count)
{
	return word >> low & ((1u << count) - 1);
}

static inline int32_t word_signed(uint32_t word, unsigned low, unsigned count)
{
	return (int32_t)(word << (32 - low - count)) >> (32 - count);
}

/* False: another instruction, or one whose offset is in a register. */
bool transfer_read(uint32_t word, struct transfer *ret);
