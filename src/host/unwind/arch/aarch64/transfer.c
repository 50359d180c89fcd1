/*
 * Decodes loads and stores.
 */
#include "host/unwind/arch/aarch64/transfer.h"

/* The base moves before (3) or after (1) the access, or not at all. */
static void set_moves(struct transfer *transfer, unsigned mode, int32_t offset)
{
	transfer->offset = mode == 1 ? 0 : offset;
	transfer->change = mode & 1 ? offset : 0;
}

static bool read_pair(uint32_t word, struct transfer *ret)
{
	unsigned opc = word_bits(word, 30, 2), is_vector = word_bits(word, 26, 1);

	if ((word & 0x3a000000) != 0x28000000)
		return false;
	*ret = (struct transfer){
		.base = word_bits(word, 5, 5),
		.first = word_bits(word, 0, 5),
		.second = word_bits(word, 10, 5),
		.size = is_vector  ? 4u << opc
			: opc == 2 ? 8
				   : 4,
		.is_load = word_bits(word, 22, 1),
		.is_vector = is_vector,
		.is_general = !is_vector && opc == 2,
	};
	if (!is_vector && opc == 1 && !ret->is_load)
		ret->size = 16; /* stgp */
	set_moves(ret, word_bits(word, 23, 2), word_signed(word, 15, 7) * (int32_t)ret->size);
	return true;
}

/* With an offset of 9 bits, or with a scaled one of 12. */
static bool read_single(uint32_t word, struct transfer *ret)
{
	bool is_scaled = (word & 0x3b000000) == 0x39000000;

	if (!is_scaled && (word & 0x3b200000) != 0x38000000)
		return false;
	*ret = (struct transfer){
		.base = word_bits(word, 5, 5),
		.first = word_bits(word, 0, 5),
		.second = TRANSFER_NONE,
		.size = 1u << word_bits(word, 30, 2),
		.is_load = word_bits(word, 22, 2) != 0,
		.is_vector = word_bits(word, 26, 1),
		.is_general = word_bits(word, 30, 2) == 3 && !word_bits(word, 26, 1),
	};
	if (is_scaled)
		set_moves(ret, 0, (int32_t)(word_bits(word, 10, 12) * ret->size));
	else
		set_moves(ret, word_bits(word, 10, 2), word_signed(word, 12, 9));
	return true;
}

bool transfer_read(uint32_t word, struct transfer *ret)
{
	return read_pair(word, ret) || read_single(word, ret);
}
