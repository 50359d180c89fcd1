/*
 * One decoded instruction of x86-64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What follows an opcode, and what it changes; byte registers do not count. */
enum shape {
	MODRM = 1 << 0,
	IMM8 = 1 << 1,
	IMM16 = 1 << 2,
	IMMZ = 1 << 3, /* 4 bytes; 2 with the operand prefix */
	WRITES_RM = 1 << 4,
	WRITES_REG = 1 << 5,
	OF_VECTORS = 1 << 6, /* writes a general register with VEX, too */
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

/* Zero except bytes and room, before it is read. */
struct decoding {
	const unsigned char *bytes;
	size_t room, at;
	bool is_broken;
	/* Prefixes. */
	bool is_short, is_address_short, is_wide, has_vex;
	bool is_scalar, is_repeated; /* F2 or F3, and F3 alone */
	unsigned reg_high, index_high, rm_high;
	unsigned extra; /* the register of VEX besides those of ModRM */
	/* Opcode. */
	enum map map;
	unsigned opcode;
	/* ModRM. */
	unsigned mod, reg, rm;
	unsigned base; /* of a memory operand; REGISTER_NONE: another one, or with an index */
	int64_t displacement;
	int64_t immediate;
};

/* Its shape (enum shape), or BAD: invalid, or not used by programs. */
unsigned decoding_read(struct decoding *it);
