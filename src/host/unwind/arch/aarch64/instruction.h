/*
 * What instructions of aarch64 do with a frame: where the caller's sp, x29 and x30 are before each.
 * Without knowledge of functions; code.c follows those.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define INSTRUCTION_BYTES 4u
#define BTI_C             0xd503245fu

/* The contents of x29 and x30. */
enum held {
	HELD_CALLER, /* the caller's value, so for x30: the return address */
	HELD_FRAME,  /* x29 only: CFA + fp_at */
	HELD_OTHER,  /* something else */
	HELD_ZERO,   /* x30 only: no caller, a program begins here */
};

/* Offsets in bytes from the CFA, which is the stack pointer of the caller. */
struct frame_state {
	int32_t sp_at;    /* sp = CFA + sp_at */
	int32_t fp_at;    /* x29 = CFA + fp_at, while that is HELD_FRAME */
	int32_t fp_saved; /* where the caller's x29 and x30 lie; NOT_SAVED */
	int32_t lr_saved;
	uint8_t fp, lr;     /* enum held */
	uint8_t lr_in;      /* another register that holds the caller's x30; NO_COPY */
	uint8_t is_sp_lost; /* sp_at is not valid */
	uint8_t is_known;   /* else the whole state is not valid */
};

#define NOT_SAVED INT32_MAX
#define NO_COPY   31

enum flow {
	FLOW_ON,     /* to the next instruction */
	FLOW_JUMP,   /* to the target */
	FLOW_BRANCH, /* to both */
	FLOW_CALL,   /* to the next one, when the function at the target returns */
	FLOW_END,    /* elsewhere, or nowhere */
};

/* At a function's beginning. */
struct frame_state frame_state_begin(void);
bool frame_state_is_same(const struct frame_state *a, const struct frame_state *b);
/* Whether sp can have its value from the beginning. */
bool frame_state_may_return(const struct frame_state *state);
/* The state after the instruction. */
void instruction_apply(uint32_t word, struct frame_state *state);
/* False: the general register of this number keeps its value, calls aside. */
bool instruction_may_write(uint32_t word, unsigned number);
/* Where it continues; *ret_offset is that of the target from the instruction, 0: none. */
enum flow instruction_flow(uint32_t word, int64_t *ret_offset);

/* ret, and that of a signed address. */
bool instruction_returns(uint32_t word);
/* br: to another function, or to a case of this one. */
bool instruction_jumps_to_register(uint32_t word);
/* adrp x16, or the instruction before it in a stub of the linker: only stubs begin so. */
bool instruction_begins_stub(uint32_t word, uint32_t next);
/* adrp x16 and ldr x17, [x16, #n] behind it: the address of the word that a stub jumps through; 0:
 * other instructions.  `at`: the address of the first one. */
uint64_t instruction_stub_slot(uint32_t page, uint32_t load, uint64_t at);
/* An instruction that is only at the beginning of functions. */
bool instruction_begins_function(uint32_t word);
/* sub sp, sp, #n. */
bool instruction_makes_room(uint32_t word);
/* add x29, sp, #n: true, and *ret is n. */
bool instruction_sets_fp(uint32_t word, int32_t *ret);
/* It writes to x29, and does not load it from the stack. */
bool instruction_changes_fp(uint32_t word);

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
