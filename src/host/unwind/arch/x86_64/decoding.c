/*
 * Decodes instructions of x86-64: prefixes, opcode, ModRM with SIB and displacement, immediate.
 */
#include "host/unwind/arch/x86_64/decoding.h"

#include "host/unwind/arch/x86_64/instruction.h"

#define SIZE_MAX_BYTES 15u

#define ARITHMETIC(first)                                                               \
	[(first)] = MODRM, [(first) + 1] = MODRM | WRITES_RM, [(first) + 2] = MODRM,    \
	[(first) + 3] = MODRM | WRITES_REG, [(first) + 4] = IMM8, [(first) + 5] = IMMZ, \
	[(first) + 6] = BAD, [(first) + 7] = BAD

static const unsigned char one_byte[256] = {
	ARITHMETIC(0x00),
	ARITHMETIC(0x08),
	ARITHMETIC(0x10),
	ARITHMETIC(0x18),
	ARITHMETIC(0x20),
	ARITHMETIC(0x28),
	ARITHMETIC(0x30),
	[0x38] = MODRM,
	[0x39] = MODRM,
	[0x3a] = MODRM,
	[0x3b] = MODRM,
	[0x3c] = IMM8,
	[0x3d] = IMMZ,
	[0x3e] = BAD,
	[0x3f] = BAD,
	[0x40 ... 0x4f] = BAD, /* prefixes, which are read before */
	[0x60 ... 0x62] = BAD,
	[0x63] = MODRM | WRITES_REG,
	[0x64 ... 0x67] = BAD,
	[0x68] = IMMZ,
	[0x69] = MODRM | IMMZ | WRITES_REG,
	[0x6a] = IMM8,
	[0x6b] = MODRM | IMM8 | WRITES_REG,
	[0x70 ... 0x7f] = IMM8,
	[0x80] = MODRM | IMM8,
	[0x81] = MODRM | IMMZ | WRITES_RM,
	[0x82] = BAD,
	[0x83] = MODRM | IMM8 | WRITES_RM,
	[0x84] = MODRM,
	[0x85] = MODRM,
	[0x86] = MODRM,
	[0x87] = MODRM | WRITES_RM | WRITES_REG,
	[0x88] = MODRM,
	[0x89] = MODRM | WRITES_RM,
	[0x8a] = MODRM,
	[0x8b] = MODRM | WRITES_REG,
	[0x8c] = MODRM | WRITES_RM,
	[0x8d] = MODRM | WRITES_REG,
	[0x8e] = MODRM,
	[0x8f] = MODRM | WRITES_RM,
	[0x9a] = BAD,
	[0xa8] = IMM8,
	[0xa9] = IMMZ,
	[0xb0 ... 0xb7] = IMM8,
	[0xb8 ... 0xbf] = IMMZ,
	[0xc0] = MODRM | IMM8,
	[0xc1] = MODRM | IMM8 | WRITES_RM,
	[0xc2] = IMM16,
	[0xc4] = BAD,
	[0xc5] = BAD,
	[0xc6] = MODRM | IMM8,
	[0xc7] = MODRM | IMMZ | WRITES_RM,
	[0xc8] = IMM16 | IMM8,
	[0xca] = IMM16,
	[0xcd] = IMM8,
	[0xce] = BAD,
	[0xd0] = MODRM,
	[0xd1] = MODRM | WRITES_RM,
	[0xd2] = MODRM,
	[0xd3] = MODRM | WRITES_RM,
	[0xd4 ... 0xd6] = BAD,
	[0xd8 ... 0xdf] = MODRM,
	[0xe0 ... 0xe7] = IMM8,
	[0xe8] = IMMZ,
	[0xe9] = IMMZ,
	[0xea] = BAD,
	[0xeb] = IMM8,
	[0xf0] = BAD,
	[0xf2] = BAD,
	[0xf3] = BAD,
	[0xf6] = MODRM,
	[0xf7] = MODRM | WRITES_RM,
	[0xfe] = MODRM,
	[0xff] = MODRM | WRITES_RM,
};

static const unsigned char two_bytes[256] = {
	[0x00 ... 0x03] = MODRM,
	[0x04] = BAD,
	[0x0a] = BAD,
	[0x0c] = BAD,
	[0x0d] = MODRM,
	[0x0f] = BAD,
	[0x10 ... 0x23] = MODRM,
	[0x24 ... 0x27] = BAD,
	[0x28 ... 0x2b] = MODRM,
	[0x2c ... 0x2d] = MODRM | WRITES_REG | OF_VECTORS,
	[0x2e ... 0x2f] = MODRM,
	[0x36] = BAD,
	[0x38 ... 0x3f] = BAD,
	[0x40 ... 0x4f] = MODRM | WRITES_REG,
	[0x50] = MODRM | WRITES_REG | OF_VECTORS,
	[0x51 ... 0x6f] = MODRM,
	[0x70 ... 0x73] = MODRM | IMM8,
	[0x74 ... 0x76] = MODRM,
	[0x78 ... 0x7d] = MODRM,
	[0x7e] = MODRM | WRITES_RM | OF_VECTORS,
	[0x7f] = MODRM,
	[0x80 ... 0x8f] = IMMZ,
	[0x90 ... 0x92] = MODRM,
	[0x93] = MODRM | WRITES_REG | OF_VECTORS, /* kmov */
	[0x94 ... 0x9f] = MODRM,
	[0xa3] = MODRM,
	[0xa4] = MODRM | IMM8 | WRITES_RM,
	[0xa5] = MODRM | WRITES_RM,
	[0xa6 ... 0xa7] = BAD,
	[0xab] = MODRM | WRITES_RM,
	[0xac] = MODRM | IMM8 | WRITES_RM,
	[0xad] = MODRM | WRITES_RM,
	[0xae] = MODRM,
	[0xaf] = MODRM | WRITES_REG,
	[0xb0] = MODRM,
	[0xb1] = MODRM | WRITES_RM,
	[0xb2] = MODRM,
	[0xb3] = MODRM | WRITES_RM,
	[0xb4 ... 0xb5] = MODRM,
	[0xb6 ... 0xb8] = MODRM | WRITES_REG,
	[0xb9] = MODRM,
	[0xba] = MODRM | IMM8 | WRITES_RM,
	[0xbb] = MODRM | WRITES_RM,
	[0xbc ... 0xbf] = MODRM | WRITES_REG,
	[0xc0] = MODRM,
	[0xc1] = MODRM | WRITES_RM | WRITES_REG,
	[0xc2] = MODRM | IMM8,
	[0xc3] = MODRM,
	[0xc4] = MODRM | IMM8,
	[0xc5] = MODRM | IMM8 | WRITES_REG | OF_VECTORS,
	[0xc6] = MODRM | IMM8,
	[0xc7] = MODRM,
	[0xd0 ... 0xd6] = MODRM,
	[0xd7] = MODRM | WRITES_REG | OF_VECTORS,
	[0xd8 ... 0xff] = MODRM,
};

static unsigned byte_take(struct decoding *it)
{
	if (it->at >= it->room || it->at >= SIZE_MAX_BYTES) {
		it->is_broken = true;
		return 0;
	}
	return it->bytes[it->at++];
}

static int64_t take_signed(struct decoding *it, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)byte_take(it) << 8 * i;
	return size ? (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size) : 0;
}

static bool is_prefix(unsigned byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       (byte & 0xe7) == 0x26 || byte == 0x64 || byte == 0x65;
}

static enum map map_of(unsigned number)
{
	/* 5 and 6 have the shape of the third; those from 8 on are AMD's, behind 8F. */
	static const unsigned char maps[] = { MAP_NONE, MAP_0F,   MAP_0F38, MAP_0F3A,
					      MAP_NONE, MAP_0F38, MAP_0F38, MAP_NONE,
					      MAP_0F3A, MAP_0F38, MAP_XOP };

	return number < ARRAY_SIZE(maps) ? (enum map)maps[number] : MAP_NONE;
}

/* Reads the opcode behind C5, C4, 62 or 8F. */
static void take_vex(struct decoding *it, unsigned first)
{
	unsigned byte = byte_take(it);

	it->has_vex = true;
	it->reg_high = ~byte >> 4 & 8;
	it->map = MAP_0F;
	if (first != 0xc5) {
		it->reg_high = ~byte >> 4 & 8;
		it->index_high = ~byte >> 3 & 8;
		it->rm_high = ~byte >> 2 & 8;
		it->map = map_of(first == 0x62 ? byte & 7 : byte & 31);
		byte = byte_take(it);
		it->is_wide = byte >> 7;
	}
	it->extra = ~byte >> 3 & 15;
	it->is_scalar = byte & 2;
	it->is_repeated = (byte & 3) == 2;
	if (first == 0x62)
		byte_take(it);
	it->opcode = byte_take(it);
}

static void take_opcode(struct decoding *it)
{
	unsigned byte = byte_take(it);

	for (; is_prefix(byte) && !it->is_broken; byte = byte_take(it)) {
		it->is_short |= byte == 0x66;
		it->is_address_short |= byte == 0x67;
		it->is_scalar |= (byte & 0xfe) == 0xf2;
		it->is_repeated |= byte == 0xf3;
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 ||
	    (byte == 0x8f && it->at < it->room && (it->bytes[it->at] & 31) >= 8)) {
		take_vex(it, byte);
		return;
	}
	if ((byte & 0xf0) == 0x40) {
		it->is_wide = byte & 8;
		it->reg_high = byte << 1 & 8;
		it->index_high = byte << 2 & 8;
		it->rm_high = byte << 3 & 8;
		byte = byte_take(it);
	}
	it->map = MAP_ONE;
	if (byte == 0x0f) {
		byte = byte_take(it);
		it->map = byte == 0x38 ? MAP_0F38 : byte == 0x3a ? MAP_0F3A : MAP_0F;
		if (it->map != MAP_0F)
			byte = byte_take(it);
	}
	it->opcode = byte;
}

/* Instructions of general registers among those of vectors: movbe, crc32, BMI, adcx; pextr, rorx.
 */
static unsigned writes_of_third(const struct decoding *it)
{
	if (it->map == MAP_0F38 && it->opcode >= 0xf0 && it->opcode <= 0xf7)
		return WRITES_REG;
	if (it->map != MAP_0F3A)
		return 0;
	if (it->opcode >= 0x14 && it->opcode <= 0x17)
		return WRITES_RM;
	return it->opcode == 0xf0 ? WRITES_REG : 0;
}

/* The registers that a vector instruction does not write, against its shape. */
static unsigned shape_spared(const struct decoding *it, unsigned shape)
{
	bool is_spared = !(shape & OF_VECTORS);

	if ((it->opcode & 0xfe) == 0x2c) /* without the prefix it writes MMX registers */
		is_spared = !it->is_scalar;
	else if (it->opcode == 0x7e) /* with it, a move between vectors */
		is_spared = it->is_repeated;
	else if (it->opcode == 0x93) /* without VEX it is setae */
		is_spared = !it->has_vex;
	return is_spared ? WRITES_RM | WRITES_REG : 0;
}

static unsigned shape_of(const struct decoding *it)
{
	static const unsigned char of_maps[] = { [MAP_0F38] = MODRM,
						 [MAP_0F3A] = MODRM | IMM8,
						 [MAP_XOP] = MODRM | IMMZ,
						 [MAP_NONE] = BAD };
	unsigned shape;

	if (it->map == MAP_ONE)
		return one_byte[it->opcode];
	if (it->map != MAP_0F)
		return of_maps[it->map] | writes_of_third(it);
	shape = two_bytes[it->opcode];
	/* Other vector instructions write no general register. */
	return it->has_vex || shape & OF_VECTORS ? shape & ~shape_spared(it, shape) : shape;
}

static void take_place(struct decoding *it)
{
	unsigned byte = byte_take(it), sib;

	it->mod = byte >> 6;
	it->reg = (byte >> 3 & 7) | it->reg_high;
	it->rm = byte & 7;
	it->base = it->rm | it->rm_high;
	if (it->mod != 3 && it->rm == 4) {
		sib = byte_take(it);
		it->base = (sib & 7) | it->rm_high;
		if (((sib >> 3 & 7) | it->index_high) != 4)
			it->base = REGISTER_NONE;
		if (it->mod == 0 && (sib & 7) == 5) {
			it->base = REGISTER_NONE;
			it->displacement = take_signed(it, 4);
		}
	}
	if (it->mod == 0 && it->rm == 5) {
		it->base = REGISTER_NONE;
		it->displacement = take_signed(it, 4);
	}
	if (it->mod == 1 || it->mod == 2)
		it->displacement = take_signed(it, it->mod == 1 ? 1 : 4);
	it->rm |= it->rm_high;
}

static void take_immediate(struct decoding *it, unsigned shape)
{
	/* The distance of a jump has four bytes in any case. */
	bool is_far = it->map == MAP_0F || (it->opcode & 0xfe) == 0xe8;
	unsigned reg = it->reg & 7, wide = it->is_short && !is_far ? 2 : 4;

	if (it->map == MAP_ONE && (it->opcode & 0xfe) == 0xf6 && reg < 2)
		shape |= it->opcode & 1 ? IMMZ : IMM8;
	if (it->map == MAP_ONE && it->opcode >= 0xa0 && it->opcode <= 0xa3)
		it->immediate = take_signed(it, it->is_address_short ? 4 : 8);
	else if (it->map == MAP_ONE && it->opcode >= 0xb8 && it->opcode <= 0xbf && it->is_wide)
		it->immediate = take_signed(it, 8);
	else if (shape & IMMZ)
		it->immediate = take_signed(it, wide);
	if (shape & IMM16)
		it->immediate = take_signed(it, 2);
	if (shape & IMM8)
		it->immediate = take_signed(it, 1);
}

unsigned decoding_read(struct decoding *it)
{
	unsigned shape;

	take_opcode(it);
	shape = shape_of(it);
	if (it->is_broken || shape & BAD)
		return BAD;
	if (shape & MODRM)
		take_place(it);
	take_immediate(it, shape);
	return it->is_broken ? BAD : shape;
}
