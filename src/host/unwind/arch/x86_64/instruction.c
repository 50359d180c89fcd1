/*
 * Takes instructions of x86-64 apart, as far as their length and the stack are concerned: prefixes,
 * opcode, ModRM with SIB and displacement, immediate.  Host only.
 */
#include "host/unwind/arch/x86_64/instruction.h"

#include <errno.h>
#include <string.h>

#define SIZE_MAX_BYTES 15u

/* What follows an opcode, and what it changes; bytes of registers do not count. */
enum shape {
	MODRM = 1 << 0,
	IMM8 = 1 << 1,
	IMM16 = 1 << 2,
	IMMZ = 1 << 3, /* 4 bytes; 2 with the operand prefix */
	WRITES_RM = 1 << 4,
	WRITES_REG = 1 << 5,
	OF_VECTORS = 1 << 6, /* with VEX it writes to a general register all the same */
	BAD = 1 << 7,
};

enum map {
	MAP_ONE,
	MAP_0F,
	MAP_0F38,
	MAP_0F3A,
	MAP_XOP,
	MAP_NONE,
};

struct decoding {
	const unsigned char *bytes;
	size_t room, at;
	bool is_broken;
	/* Prefixes. */
	bool is_short, is_address_short, is_wide, has_vex;
	bool is_scalar, is_repeated; /* F2 or F3, and F3 alone */
	unsigned reg_high, index_high, rm_high;
	unsigned extra; /* the register that VEX names beside those of ModRM */
	/* Opcode. */
	enum map map;
	unsigned opcode;
	/* ModRM. */
	unsigned mod, reg, rm;
	unsigned base; /* of a place in memory; REGISTER_NONE: another one, or there is an index */
	int64_t displacement;
	int64_t immediate;
};

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
	[0x40 ... 0x4f] = BAD, /* prefixes, which are gone by now */
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

static unsigned take(struct decoding *it)
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
		value |= (uint64_t)take(it) << 8 * i;
	return size ? (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size) : 0;
}

static bool is_prefix(unsigned byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       (byte & 0xe7) == 0x26 || byte == 0x64 || byte == 0x65;
}

/* Of VEX and EVEX: the bits stand inverted. */
static void take_high_bits(struct decoding *it, unsigned byte)
{
	it->reg_high = ~byte >> 4 & 8;
	it->index_high = ~byte >> 3 & 8;
	it->rm_high = ~byte >> 2 & 8;
}

static enum map map_of(unsigned number)
{
	/* 5 and 6 are shaped like the third; those from 8 on are AMD's own, behind 8F. */
	static const unsigned char maps[] = { MAP_NONE, MAP_0F,   MAP_0F38, MAP_0F3A,
					      MAP_NONE, MAP_0F38, MAP_0F38, MAP_NONE,
					      MAP_0F3A, MAP_0F38, MAP_XOP };

	return number < ARRAY_SIZE(maps) ? (enum map)maps[number] : MAP_NONE;
}

/* The opcode behind C5, C4, 62 or 8F. */
static void take_vex(struct decoding *it, unsigned first)
{
	unsigned byte = take(it);

	it->has_vex = true;
	it->reg_high = ~byte >> 4 & 8;
	it->map = MAP_0F;
	if (first != 0xc5) {
		take_high_bits(it, byte);
		it->map = map_of(first == 0x62 ? byte & 7 : byte & 31);
		byte = take(it);
		it->is_wide = byte >> 7;
	}
	it->extra = ~byte >> 3 & 15;
	it->is_scalar = byte & 2;
	it->is_repeated = (byte & 3) == 2;
	if (first == 0x62)
		take(it);
	it->opcode = take(it);
}

/* Else 8F is a pop. */
static bool is_xop(const struct decoding *it)
{
	return it->at < it->room && (it->bytes[it->at] & 31) >= 8;
}

static void take_opcode(struct decoding *it)
{
	unsigned byte = take(it);

	for (; is_prefix(byte) && !it->is_broken; byte = take(it)) {
		it->is_short |= byte == 0x66;
		it->is_address_short |= byte == 0x67;
		it->is_scalar |= (byte & 0xfe) == 0xf2;
		it->is_repeated |= byte == 0xf3;
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 || (byte == 0x8f && is_xop(it))) {
		take_vex(it, byte);
		return;
	}
	if ((byte & 0xf0) == 0x40) {
		it->is_wide = byte & 8;
		it->reg_high = byte << 1 & 8;
		it->index_high = byte << 2 & 8;
		it->rm_high = byte << 3 & 8;
		byte = take(it);
	}
	it->map = MAP_ONE;
	if (byte == 0x0f) {
		byte = take(it);
		it->map = byte == 0x38 ? MAP_0F38 : byte == 0x3a ? MAP_0F3A : MAP_0F;
		if (it->map != MAP_0F)
			byte = take(it);
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

/* The registers that a vector instruction does not write after all. */
static unsigned spared(const struct decoding *it, unsigned shape)
{
	bool is_spared = !(shape & OF_VECTORS);

	if ((it->opcode & 0xfe) == 0x2c) /* without the prefix they write to MMX registers */
		is_spared = !it->is_scalar;
	else if (it->opcode == 0x7e) /* with it it is a move between vectors */
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
	/* What other vector instructions write is no register of ours. */
	return it->has_vex || shape & OF_VECTORS ? shape & ~spared(it, shape) : shape;
}

static void take_place(struct decoding *it)
{
	unsigned byte = take(it), sib;

	it->mod = byte >> 6;
	it->reg = (byte >> 3 & 7) | it->reg_high;
	it->rm = byte & 7;
	it->base = it->rm | it->rm_high;
	if (it->mod != 3 && it->rm == 4) {
		sib = take(it);
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

/* How far a jump goes has four bytes in any case. */
static bool is_far(const struct decoding *it)
{
	return it->map == MAP_0F || (it->opcode & 0xfe) == 0xe8;
}

static void take_immediate(struct decoding *it, unsigned shape)
{
	unsigned reg = it->reg & 7, wide = it->is_short && !is_far(it) ? 2 : 4;

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

static void set_target(const struct decoding *it, struct instruction *ret,
		       enum instruction_kind kind)
{
	ret->kind = kind;
	ret->target = (int64_t)it->at + it->immediate;
}

static void set_jump_by_memory(const struct decoding *it, struct instruction *ret)
{
	ret->kind = INSTRUCTION_JUMP;
	ret->is_by_slot = it->mod == 0 && (it->rm & 7) == 5;
}

/* Opcodes of one byte that go elsewhere. */
static bool read_flow(const struct decoding *it, struct instruction *ret)
{
	unsigned opcode = it->opcode, reg = it->reg & 7;

	ret->target = TARGET_UNKNOWN;
	if (it->map == MAP_0F && (opcode & 0xf0) == 0x80 && !it->has_vex)
		set_target(it, ret, INSTRUCTION_BRANCH);
	else if (it->map == MAP_0F && opcode == 0x0b && !it->has_vex)
		ret->kind = INSTRUCTION_TRAP;
	else if (it->map != MAP_ONE)
		return false;
	else if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0)
		set_target(it, ret, INSTRUCTION_BRANCH);
	else if (opcode == 0xe9 || opcode == 0xeb)
		set_target(it, ret, INSTRUCTION_JUMP);
	else if (opcode == 0xe8)
		set_target(it, ret, INSTRUCTION_CALL);
	else if (opcode == 0xff && (reg == 2 || reg == 3))
		ret->kind = INSTRUCTION_CALL;
	else if (opcode == 0xff && (reg == 4 || reg == 5))
		set_jump_by_memory(it, ret);
	else if ((opcode & 0xf6) == 0xc2)
		ret->kind = INSTRUCTION_RETURN;
	else if (opcode == 0xf4)
		ret->kind = INSTRUCTION_TRAP;
	else
		return false;
	return true;
}

static void change(struct instruction *ret, enum instruction_kind kind, unsigned to, unsigned from,
		   int64_t value)
{
	ret->kind = kind;
	ret->to = to;
	ret->from = from;
	ret->value = value;
}

/* The other opcodes of one byte that push and pop. */
static bool read_push(const struct decoding *it, struct instruction *ret)
{
	unsigned opcode = it->opcode, reg = it->reg & 7;

	if (it->map == MAP_0F && !it->has_vex && (opcode & 0xf6) == 0xa0)
		change(ret, opcode & 1 ? INSTRUCTION_POP : INSTRUCTION_PUSH, REGISTER_NONE,
		       REGISTER_NONE, 0);
	else if (it->map != MAP_ONE)
		return false;
	else if ((opcode & 0xf8) == 0x50)
		change(ret, INSTRUCTION_PUSH, REGISTER_NONE, (opcode & 7) | it->rm_high, 0);
	else if ((opcode & 0xf8) == 0x58)
		change(ret, INSTRUCTION_POP, (opcode & 7) | it->rm_high, REGISTER_NONE, 0);
	else if (opcode == 0x68 || opcode == 0x6a || opcode == 0x9c || (opcode == 0xff && reg == 6))
		change(ret, INSTRUCTION_PUSH, REGISTER_NONE, REGISTER_NONE, 0);
	else if (opcode == 0x9d || opcode == 0x8f)
		change(ret, INSTRUCTION_POP, REGISTER_NONE, REGISTER_NONE, 0);
	else if (opcode == 0xc9)
		ret->kind = INSTRUCTION_LEAVE;
	else if (opcode == 0xc8)
		change(ret, INSTRUCTION_SET, REGISTER_RSP, REGISTER_NONE, 0);
	else
		return false;
	if (it->is_short) /* two bytes: nobody does that */
		change(ret, INSTRUCTION_SET, REGISTER_RSP, REGISTER_NONE, 0);
	return true;
}

static bool is_known_base(const struct decoding *it)
{
	return it->mod != 3 && (it->base == REGISTER_RSP || it->base == REGISTER_RBP);
}

/* Moves and sums of whole registers. */
static bool read_move(const struct decoding *it, struct instruction *ret)
{
	unsigned opcode = it->opcode, reg = it->reg & 7;

	if (it->map != MAP_ONE || !it->is_wide)
		return false;
	if (opcode == 0x89 && it->mod == 3)
		change(ret, INSTRUCTION_MOVE, it->rm, it->reg, 0);
	else if (opcode == 0x8b && it->mod == 3)
		change(ret, INSTRUCTION_MOVE, it->reg, it->rm, 0);
	else if (opcode == 0x89 && is_known_base(it))
		change(ret, INSTRUCTION_STORE, it->base, it->reg, it->displacement);
	else if (opcode == 0x8b && is_known_base(it))
		change(ret, INSTRUCTION_LOAD, it->reg, it->base, it->displacement);
	else if (opcode == 0x8d && it->mod != 3 && it->base == it->reg)
		change(ret, INSTRUCTION_ADD, it->reg, it->reg, it->displacement);
	else if (opcode == 0x8d && is_known_base(it))
		change(ret, INSTRUCTION_ADDRESS, it->reg, it->base, it->displacement);
	else if ((opcode == 0x81 || opcode == 0x83) && it->mod == 3 && (reg == 0 || reg == 5))
		change(ret, INSTRUCTION_ADD, it->rm, it->rm, reg ? -it->immediate : it->immediate);
	else if ((opcode == 0x81 || opcode == 0x83) && it->mod == 3 && reg == 4)
		change(ret, INSTRUCTION_ALIGN, it->rm, it->rm, it->immediate);
	else
		return false;
	return true;
}

/* cmp, test, mul, div change none of the registers that are asked for. */
static bool only_looks(const struct decoding *it)
{
	unsigned reg = it->reg & 7;

	if (it->map != MAP_ONE)
		return it->map == MAP_0F && it->opcode == 0xba && reg == 4;
	return ((it->opcode == 0x80 || it->opcode == 0x81 || it->opcode == 0x83) && reg == 7) ||
	       ((it->opcode & 0xfe) == 0xf6 && reg != 2 && reg != 3);
}

static void read_other(const struct decoding *it, unsigned shape, struct instruction *ret)
{
	if (it->map == MAP_ONE && it->opcode >= 0xb8 && it->opcode <= 0xbf)
		change(ret, INSTRUCTION_SET, (it->opcode & 7) | it->rm_high, REGISTER_NONE, 0);
	else if (it->map == MAP_ONE && it->opcode >= 0x91 && it->opcode <= 0x97)
		change(ret, INSTRUCTION_SET, (it->opcode & 7) | it->rm_high, REGISTER_NONE, 0);
	else if (it->has_vex && it->map == MAP_0F38 && it->opcode == 0xf3) /* blsr, blsi, ... */
		change(ret, INSTRUCTION_SET, it->extra, REGISTER_NONE, 0);
	else if (shape & WRITES_REG)
		change(ret, INSTRUCTION_SET, it->reg, REGISTER_NONE, 0);
	if (shape & WRITES_RM && it->mod == 3 && !only_looks(it) &&
	    (ret->kind != INSTRUCTION_SET || it->rm == REGISTER_RSP))
		change(ret, INSTRUCTION_SET, it->rm, REGISTER_NONE, 0);
}

/* Sums, moves and comparisons of whole registers, and branches. */
static const unsigned char plain_ones[] = { 0x01, 0x03, 0x09, 0x0b, 0x21, 0x23, 0x29, 0x2b, 0x31,
					    0x33, 0x39, 0x3b, 0x63, 0x69, 0x6b, 0x81, 0x83, 0x85,
					    0x89, 0x8b, 0x8d, 0xc1, 0xc3, 0xc7, 0xe9, 0xeb };

/* Of vectors: all but those that find strings (ecx) and mulx (two registers). */
static bool is_plain_of_vectors(const struct decoding *it)
{
	unsigned opcode = it->opcode;

	if (it->map == MAP_0F38)
		return it->has_vex ? opcode != 0xf6 : opcode < 0xf0;
	if (it->map == MAP_0F3A)
		return opcode < 0x60 || opcode > 0x63;
	return it->map == MAP_0F &&
	       (it->has_vex || (opcode >= 0x10 && opcode <= 0x17) ||
		(opcode >= 0x28 && opcode <= 0x2f) || (opcode >= 0x50 && opcode <= 0x7f) ||
		opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) || opcode >= 0xd0);
}

static bool is_plain(const struct decoding *it)
{
	if (it->map != MAP_ONE)
		return is_plain_of_vectors(it) ||
		       (it->map == MAP_0F && (it->opcode & 0xf0) == 0x80 && !it->has_vex);
	return (it->opcode & 0xf0) == 0x70 || (it->opcode & 0xf0) == 0x50 ||
	       memchr(plain_ones, (int)it->opcode, sizeof(plain_ones));
}

int instruction_read(struct instruction *ret, const unsigned char *bytes, size_t room)
{
	struct decoding it = { .bytes = bytes, .room = room };
	unsigned shape;

	take_opcode(&it);
	shape = shape_of(&it);
	if (it.is_broken || shape & BAD)
		return -EBADMSG;
	if (shape & MODRM)
		take_place(&it);
	take_immediate(&it, shape);
	if (it.is_broken)
		return -EBADMSG;
	*ret = (struct instruction){ .kind = INSTRUCTION_OTHER,
				     .size = (unsigned)it.at,
				     .to = REGISTER_NONE,
				     .from = REGISTER_NONE };
	ret->is_plain = is_plain(&it);
	if (!read_flow(&it, ret) && !read_push(&it, ret) && !read_move(&it, ret))
		read_other(&it, shape, ret);
	return 0;
}
