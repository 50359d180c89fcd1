/*
 * The effect of one instruction of x86-64 on the stack and on the registers that lead to it.  Bytes
 * are foreign: at most `room` of them are read.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>
#include <stdint.h>

/* By their numbers in instructions. */
enum register_number {
	REGISTER_RSP = 4,
	REGISTER_RBP = 5,
	REGISTER_NONE = 16, /* not a general register, or more than one */
};

/* The number of a register in DWARF, from that in instructions. */
static inline unsigned dwarf_number(unsigned number)
{
	static const unsigned char numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return number < ARRAY_SIZE(numbers) ? numbers[number] : number;
}

enum instruction_kind {
	INSTRUCTION_OTHER,   /* nothing relevant here */
	INSTRUCTION_PUSH,    /* `from`; it may be REGISTER_NONE */
	INSTRUCTION_POP,     /* `to`; it may be REGISTER_NONE */
	INSTRUCTION_MOVE,    /* to = from */
	INSTRUCTION_LOAD,    /* to = *(from + value), from is rsp or rbp */
	INSTRUCTION_STORE,   /* *(to + value) = from, to is rsp or rbp */
	INSTRUCTION_ADD,     /* to += value */
	INSTRUCTION_ADDRESS, /* to = from + value, one of them is rsp or rbp */
	INSTRUCTION_ALIGN,   /* to &= value */
	INSTRUCTION_SET,     /* `to` has an unknown value now */
	INSTRUCTION_LEAVE,   /* rsp = rbp, pop rbp */
	INSTRUCTION_CALL,    /* target */
	INSTRUCTION_JUMP,    /* target, or by the register `from` */
	INSTRUCTION_BRANCH,  /* target, or the next one */
	INSTRUCTION_RETURN,
	INSTRUCTION_TRAP, /* no continuation */
};

#define TARGET_UNKNOWN INT64_MIN

struct instruction {
	enum instruction_kind kind;
	unsigned size;
	unsigned to, from;
	int64_t value;
	int64_t target;  /* from the instruction's beginning; TARGET_UNKNOWN.  Of INSTRUCTION_SET:
			    the pc-relative address that is the value */
	bool is_by_slot; /* a jump through a pc-relative word: of a stub, or a tail call */
	bool is_plain;   /* writes no register but `to`, and no byte register */
};

/* 0, or -EBADMSG for an invalid instruction, or one that exceeds the room. */
int instruction_read(struct instruction *ret, const unsigned char *bytes, size_t room) MUST_CHECK;
