/*
 * Decodes instructions of x86-64: prefixes, opcode, ModRM with SIB and displacement, immediate.
 */
#include "host/unwind/arch/x86_64/decoding.h"

#include "host/unwind/arch/x86_64/instruction.h"

#define SIZE_MAX_BYTES 15u

/* What the letters of the tables stand for. */
static const unsigned char shapes[128] = {
	['.'] = 0,
	['x'] = BAD, /* or a prefix, which is read before */
	['1'] = IMM8,
	['2'] = IMM16,
	['3'] = IMM16 | IMM8,
	['4'] = IMMZ,
	['m'] = MODRM,
	['i'] = MODRM | IMM8,
	['w'] = MODRM | WRITES_RM,
	['j'] = MODRM | WRITES_RM | IMM8,
	['W'] = MODRM | WRITES_RM | IMMZ,
	['r'] = MODRM | WRITES_REG,
	['s'] = MODRM | WRITES_REG | IMM8,
	['R'] = MODRM | WRITES_REG | IMMZ,
	['b'] = MODRM | WRITES_RM | WRITES_REG,
	['u'] = MODRM | WRITES_RM | OF_VECTORS,
	['v'] = MODRM | WRITES_REG | OF_VECTORS,
	['t'] = MODRM | WRITES_REG | IMM8 | OF_VECTORS,
};

/* As in Intel's opcode maps: a row for each high half of the opcode. */
static const char one_byte[] = "mwmr14xxmwmr14xx"  /* 0: add, or */
			       "mwmr14xxmwmr14xx"  /* 1: adc, sbb */
			       "mwmr14xxmwmr14xx"  /* 2: and, sub */
			       "mwmr14xxmmmm14xx"  /* 3: xor, cmp */
			       "xxxxxxxxxxxxxxxx"  /* 4: prefixes */
			       "................"  /* 5: push, pop */
			       "xxxrxxxx4R1s...."  /* 6: push, imul */
			       "1111111111111111"  /* 7: jcc */
			       "iWxjmmmbmwmrwrmw"  /* 8: sums, mov, lea */
			       "..........x....."  /* 9: nop, xchg */
			       "........14......"  /* a: mov, test */
			       "1111111144444444"  /* b: mov */
			       "ij2.xxiW3.2..1x."  /* c: shifts, ret, mov, enter */
			       "mwmwxxx.mmmmmmmm"  /* d: shifts, x87 */
			       "1111111144x1...."  /* e: loops, in, out, call, jmp */
			       "x.xx..mw......mw"; /* f: inc, dec, call, jmp, push */

/* Behind 0F. */
static const char two_bytes[] = "mmmmx.....x.xm.x"  /* 0: system */
				"mmmmmmmmmmmmmmmm"  /* 1: moves of vectors */
				"mmmmxxxxmmmmvvmm"  /* 2: moves of vectors, nop */
				"......x.xxxxxxxx"  /* 3: system */
				"rrrrrrrrrrrrrrrr"  /* 4: cmov */
				"vmmmmmmmmmmmmmmm"  /* 5: vectors */
				"mmmmmmmmmmmmmmmm"  /* 6: vectors */
				"iiiimmm.mmmmmmum"  /* 7: vectors */
				"4444444444444444"  /* 8: jcc */
				"mmmvmmmmmmmmmmmm"  /* 9: setcc; kmov */
				"...mjwxx...wjwmr"  /* a: bits, shifts, imul */
				"mwmwmmrrrmjwrrrr"  /* b: cmpxchg, movzx, bits */
				"mbimitim........"  /* c: xadd, pextrw, bswap */
				"mmmmmmmvmmmmmmmm"  /* d: vectors */
				"mmmmmmmmmmmmmmmm"  /* e: vectors */
				"mmmmmmmmmmmmmmmm"; /* f: vectors */

static unsigned read_byte(struct decoding *it)
{
	if (it->at >= it->room || it->at >= SIZE_MAX_BYTES) {
		it->is_broken = true;
		return 0;
	}
	return it->bytes[it->at++];
}

static int64_t read_signed(struct decoding *it, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)read_byte(it) << 8 * i;
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
static void read_vex(struct decoding *it, unsigned first)
{
	unsigned byte = read_byte(it);

	it->has_vex = true;
	it->reg_high = ~byte >> 4 & 8;
	it->map = MAP_0F;
	if (first != 0xc5) {
		it->reg_high = ~byte >> 4 & 8;
		it->index_high = ~byte >> 3 & 8;
		it->rm_high = ~byte >> 2 & 8;
		it->map = map_of(first == 0x62 ? byte & 7 : byte & 31);
		byte = read_byte(it);
		it->is_wide = byte >> 7;
	}
	it->extra = ~byte >> 3 & 15;
	it->is_scalar = byte & 2;
	it->is_repeated = (byte & 3) == 2;
	if (first == 0x62)
		read_byte(it);
	it->opcode = read_byte(it);
}

static void read_opcode(struct decoding *it)
{
	unsigned byte = read_byte(it);

	for (; is_prefix(byte) && !it->is_broken; byte = read_byte(it)) {
		it->is_short |= byte == 0x66;
		it->is_address_short |= byte == 0x67;
		it->is_scalar |= (byte & 0xfe) == 0xf2;
		it->is_repeated |= byte == 0xf3;
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 ||
	    (byte == 0x8f && it->at < it->room && (it->bytes[it->at] & 31) >= 8)) {
		read_vex(it, byte);
		return;
	}
	if ((byte & 0xf0) == 0x40) {
		it->is_wide = byte & 8;
		it->reg_high = byte << 1 & 8;
		it->index_high = byte << 2 & 8;
		it->rm_high = byte << 3 & 8;
		byte = read_byte(it);
	}
	it->map = MAP_ONE;
	if (byte == 0x0f) {
		byte = read_byte(it);
		it->map = byte == 0x38 ? MAP_0F38 : byte == 0x3a ? MAP_0F3A : MAP_0F;
		if (it->map != MAP_0F)
			byte = read_byte(it);
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
		return shapes[(unsigned char)one_byte[it->opcode]];
	if (it->map != MAP_0F)
		return of_maps[it->map] | writes_of_third(it);
	shape = shapes[(unsigned char)two_bytes[it->opcode]];
	/* Other vector instructions write no general register. */
	return it->has_vex || shape & OF_VECTORS ? shape & ~shape_spared(it, shape) : shape;
}

static void read_operand(struct decoding *it)
{
	unsigned byte = read_byte(it), sib;

	it->mod = byte >> 6;
	it->reg = (byte >> 3 & 7) | it->reg_high;
	it->rm = byte & 7;
	it->base = it->rm | it->rm_high;
	if (it->mod != 3 && it->rm == 4) {
		sib = read_byte(it);
		it->base = (sib & 7) | it->rm_high;
		if (((sib >> 3 & 7) | it->index_high) != 4)
			it->base = REGISTER_NONE;
		if (it->mod == 0 && (sib & 7) == 5) {
			it->base = REGISTER_NONE;
			it->displacement = read_signed(it, 4);
		}
	}
	if (it->mod == 0 && it->rm == 5) {
		it->base = REGISTER_NONE;
		it->displacement = read_signed(it, 4);
	}
	if (it->mod == 1 || it->mod == 2)
		it->displacement = read_signed(it, it->mod == 1 ? 1 : 4);
	it->rm |= it->rm_high;
}

static void read_immediate(struct decoding *it, unsigned shape)
{
	/* The distance of a jump has four bytes in any case. */
	bool is_far = it->map == MAP_0F || (it->opcode & 0xfe) == 0xe8;
	unsigned reg = it->reg & 7, wide = it->is_short && !is_far ? 2 : 4;

	if (it->map == MAP_ONE && (it->opcode & 0xfe) == 0xf6 && reg < 2)
		shape |= it->opcode & 1 ? IMMZ : IMM8;
	if (it->map == MAP_ONE && it->opcode >= 0xa0 && it->opcode <= 0xa3)
		it->immediate = read_signed(it, it->is_address_short ? 4 : 8);
	else if (it->map == MAP_ONE && it->opcode >= 0xb8 && it->opcode <= 0xbf && it->is_wide)
		it->immediate = read_signed(it, 8);
	else if (shape & IMMZ)
		it->immediate = read_signed(it, wide);
	if (shape & IMM16)
		it->immediate = read_signed(it, 2);
	if (shape & IMM8)
		it->immediate = read_signed(it, 1);
}

unsigned decoding_read(struct decoding *it)
{
	unsigned shape;

	read_opcode(it);
	shape = shape_of(it);
	if (it->is_broken || shape & BAD)
		return BAD;
	if (shape & MODRM)
		read_operand(it);
	read_immediate(it, shape);
	return it->is_broken ? BAD : shape;
}
