/*
 * Decodes the length of x86-64 instructions and their effect on the stack.
 */
#include "host/unwind/arch/x86_64/instruction.h"

#include "host/unwind/arch/x86_64/decoding.h"

#include <errno.h>
#include <string.h>

static void set_target(const struct decoding *it, struct instruction *ret,
		       enum instruction_kind kind)
{
	ret->kind = kind;
	ret->target = (int64_t)it->at + it->immediate;
}

/* One-byte opcodes of branches. */
static bool read_flow_one(const struct decoding *it, struct instruction *ret)
{
	unsigned opcode = it->opcode, reg = it->reg & 7;

	if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0)
		set_target(it, ret, INSTRUCTION_BRANCH);
	else if (opcode == 0xe9 || opcode == 0xeb)
		set_target(it, ret, INSTRUCTION_JUMP);
	else if (opcode == 0xe8)
		set_target(it, ret, INSTRUCTION_CALL);
	else if (opcode == 0xff && (reg == 2 || reg == 3))
		ret->kind = INSTRUCTION_CALL;
	else if (opcode == 0xff && (reg == 4 || reg == 5))
		ret->kind = INSTRUCTION_JUMP;
	else if ((opcode & 0xf6) == 0xc2)
		ret->kind = INSTRUCTION_RETURN;
	else if (opcode == 0xf4)
		ret->kind = INSTRUCTION_TRAP;
	else
		return false;
	if (ret->kind == INSTRUCTION_JUMP && opcode == 0xff) {
		ret->is_by_slot = it->mod == 0 && (it->rm & 7) == 5;
		ret->from = it->mod == 3 && reg == 4 ? it->rm : REGISTER_NONE;
	}
	return true;
}

static bool read_flow(const struct decoding *it, struct instruction *ret)
{
	ret->target = TARGET_UNKNOWN;
	if (it->map == MAP_0F && !it->has_vex) {
		/* Two-byte opcodes of branches. */
		if ((it->opcode & 0xf0) == 0x80)
			set_target(it, ret, INSTRUCTION_BRANCH);
		else if (it->opcode == 0x0b)
			ret->kind = INSTRUCTION_TRAP;
		else
			return false;
		return true;
	}
	return it->map == MAP_ONE && read_flow_one(it, ret);
}

static void instruction_fill(struct instruction *ret, enum instruction_kind kind, unsigned to,
			     unsigned from, int64_t value)
{
	ret->kind = kind;
	ret->to = to;
	ret->from = from;
	ret->value = value;
}

/* Of segment registers. */
static bool read_push_0f(const struct decoding *it, struct instruction *ret)
{
	if ((it->opcode & 0xf6) != 0xa0)
		return false;
	instruction_fill(ret, it->opcode & 1 ? INSTRUCTION_POP : INSTRUCTION_PUSH, REGISTER_NONE,
			 REGISTER_NONE, 0);
	return true;
}

static bool read_push_one(const struct decoding *it, struct instruction *ret)
{
	unsigned opcode = it->opcode, reg = it->reg & 7;

	if ((opcode & 0xf8) == 0x50)
		instruction_fill(ret, INSTRUCTION_PUSH, REGISTER_NONE, (opcode & 7) | it->rm_high,
				 0);
	else if ((opcode & 0xf8) == 0x58)
		instruction_fill(ret, INSTRUCTION_POP, (opcode & 7) | it->rm_high, REGISTER_NONE,
				 0);
	else if (opcode == 0x68 || opcode == 0x6a || opcode == 0x9c || (opcode == 0xff && reg == 6))
		instruction_fill(ret, INSTRUCTION_PUSH, REGISTER_NONE, REGISTER_NONE, 0);
	else if (opcode == 0x9d || opcode == 0x8f)
		instruction_fill(ret, INSTRUCTION_POP, REGISTER_NONE, REGISTER_NONE, 0);
	else if (opcode == 0xc9)
		ret->kind = INSTRUCTION_LEAVE;
	else if (opcode == 0xc8)
		instruction_fill(ret, INSTRUCTION_SET, REGISTER_RSP, REGISTER_NONE, 0);
	else
		return false;
	return true;
}

/* The other opcodes that push and pop. */
static bool read_push(const struct decoding *it, struct instruction *ret)
{
	bool is_push = it->map == MAP_ONE
			       ? read_push_one(it, ret)
			       : it->map == MAP_0F && !it->has_vex && read_push_0f(it, ret);

	if (is_push && it->is_short) /* two bytes: not in practice */
		instruction_fill(ret, INSTRUCTION_SET, REGISTER_RSP, REGISTER_NONE, 0);
	return is_push;
}

static bool is_known_base(const struct decoding *it)
{
	return it->mod != 3 && (it->base == REGISTER_RSP || it->base == REGISTER_RBP);
}

/* gcc keeps where the frame of a stack that it aligns began in another register. */
static bool sets_rsp_from_register(const struct decoding *it)
{
	return it->mod != 3 && it->reg == REGISTER_RSP && it->base != REGISTER_NONE;
}

/* Moves and sums of whole registers. */
static bool read_move(const struct decoding *it, struct instruction *ret)
{
	unsigned opcode = it->opcode, reg = it->reg & 7;

	if (it->map != MAP_ONE || !it->is_wide)
		return false;
	if (opcode == 0x89 && it->mod == 3)
		instruction_fill(ret, INSTRUCTION_MOVE, it->rm, it->reg, 0);
	else if (opcode == 0x8b && it->mod == 3)
		instruction_fill(ret, INSTRUCTION_MOVE, it->reg, it->rm, 0);
	else if (opcode == 0x89 && is_known_base(it))
		instruction_fill(ret, INSTRUCTION_STORE, it->base, it->reg, it->displacement);
	else if (opcode == 0x8b && is_known_base(it))
		instruction_fill(ret, INSTRUCTION_LOAD, it->reg, it->base, it->displacement);
	else if (opcode == 0x8d && it->mod != 3 && it->base == it->reg)
		instruction_fill(ret, INSTRUCTION_ADD, it->reg, it->reg, it->displacement);
	else if (opcode == 0x8d && (is_known_base(it) || sets_rsp_from_register(it)))
		instruction_fill(ret, INSTRUCTION_ADDRESS, it->reg, it->base, it->displacement);
	else if ((opcode == 0x81 || opcode == 0x83) && it->mod == 3 && (reg == 0 || reg == 5))
		instruction_fill(ret, INSTRUCTION_ADD, it->rm, it->rm,
				 reg ? -it->immediate : it->immediate);
	else if ((opcode == 0x81 || opcode == 0x83) && it->mod == 3 && reg == 4)
		instruction_fill(ret, INSTRUCTION_ALIGN, it->rm, it->rm, it->immediate);
	else
		return false;
	return true;
}

/* cmp, test, mul, div change none of the registers followed here. */
static bool only_compares(const struct decoding *it)
{
	unsigned reg = it->reg & 7;

	if (it->map != MAP_ONE)
		return it->map == MAP_0F && it->opcode == 0xba && reg == 4;
	return ((it->opcode == 0x80 || it->opcode == 0x81 || it->opcode == 0x83) && reg == 7) ||
	       ((it->opcode & 0xfe) == 0xf6 && reg != 2 && reg != 3);
}

static void read_other(const struct decoding *it, unsigned shape, struct instruction *ret)
{
	if (it->map == MAP_ONE && ((it->opcode >= 0xb8 && it->opcode <= 0xbf) ||
				   (it->opcode >= 0x91 && it->opcode <= 0x97)))
		instruction_fill(ret, INSTRUCTION_SET, (it->opcode & 7) | it->rm_high,
				 REGISTER_NONE, 0);
	else if (it->has_vex && it->map == MAP_0F38 && it->opcode == 0xf3) /* blsr, blsi, ... */
		instruction_fill(ret, INSTRUCTION_SET, it->extra, REGISTER_NONE, 0);
	else if (shape & WRITES_REG)
		instruction_fill(ret, INSTRUCTION_SET, it->reg, REGISTER_NONE, 0);
	if (it->map == MAP_ONE && it->opcode == 0x8d && it->is_wide && it->mod == 0 &&
	    (it->rm & 7) == 5)
		ret->target = (int64_t)it->at + it->displacement;
	if (shape & WRITES_RM && it->mod == 3 && !only_compares(it) &&
	    (ret->kind != INSTRUCTION_SET || it->rm == REGISTER_RSP))
		instruction_fill(ret, INSTRUCTION_SET, it->rm, REGISTER_NONE, 0);
}

/* Sums, moves and comparisons of whole registers, and branches. */
static const unsigned char plain_ones[] = { 0x01, 0x03, 0x09, 0x0b, 0x21, 0x23, 0x29, 0x2b, 0x31,
					    0x33, 0x39, 0x3b, 0x63, 0x69, 0x6b, 0x81, 0x83, 0x85,
					    0x89, 0x8b, 0x8d, 0xc1, 0xc3, 0xc7, 0xe9, 0xeb };

/* Of vectors: all except string searches (ecx) and mulx (two registers). */
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
	unsigned shape = decoding_read(&it);

	if (shape & BAD)
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
