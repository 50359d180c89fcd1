/*
 * Decodes instructions as far as frames need it.  An unknown one does not change the frame, unless
 * it writes to sp, x29 or x30: then these are lost.
 */
#include "host/unwind/arch/aarch64/instruction.h"

#include "shared/base/macros.h"

#define FP 29u
#define LR 30u
#define SP 31u

#define PACIASP 0xd503233fu
#define PACIBSP 0xd503237fu
#define NO_LR   0xd280001eu /* mov x30, #0 */
#define RET     0xd65f03c0u
#define RETAA   0xd65f0bffu
#define RETAB   0xd65f0fffu

#define FRAME_LIMIT (1 << 28) /* no frame is larger */

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

struct frame_state frame_state_begin(void)
{
	return (struct frame_state){
		.fp_saved = NOT_SAVED, .lr_saved = NOT_SAVED, .lr_in = NO_COPY, .is_known = 1
	};
}

bool frame_state_is_same(const struct frame_state *a, const struct frame_state *b)
{
	return a->is_known == b->is_known && a->is_sp_lost == b->is_sp_lost && a->fp == b->fp &&
	       a->lr == b->lr && a->sp_at == b->sp_at && a->fp_at == b->fp_at &&
	       a->fp_saved == b->fp_saved && a->lr_saved == b->lr_saved && a->lr_in == b->lr_in;
}

bool frame_state_may_return(const struct frame_state *state)
{
	return !state->is_known || state->is_sp_lost || !state->sp_at;
}

static bool is_near(int64_t offset)
{
	return offset > -FRAME_LIMIT && offset < FRAME_LIMIT;
}

static void move_sp(struct frame_state *state, int64_t by)
{
	if (is_near(state->sp_at + by))
		state->sp_at += (int32_t)by;
	else
		state->is_sp_lost = 1;
}

/* The base as an offset from the CFA; false: not known. */
static bool place_of(const struct frame_state *state, unsigned base, int32_t *ret)
{
	*ret = base == SP ? state->sp_at : state->fp_at;
	return base == SP ? !state->is_sp_lost : base == FP && state->fp == HELD_FRAME;
}

/* A register stored again is an argument (dlsym passes its caller's address).  No function saves a
 * second return address: then this is another function, behind a call that does not return. */
static void slot_store(struct frame_state *state, unsigned number, int32_t at)
{
	if (number == LR && state->lr == HELD_OTHER && state->lr_saved != NOT_SAVED)
		state->is_known = 0;
	if (number == FP && state->fp == HELD_CALLER && state->fp_saved == NOT_SAVED)
		state->fp_saved = at;
	if (number == LR && state->lr == HELD_CALLER && state->lr_saved == NOT_SAVED)
		state->lr_saved = at;
}

static void slot_load(struct frame_state *state, unsigned number, bool is_known, int32_t at)
{
	bool is_own = is_known && at == (number == FP ? state->fp_saved : state->lr_saved);

	if (number == FP) {
		state->fp = is_own ? HELD_CALLER : HELD_OTHER;
		state->fp_saved = is_own ? NOT_SAVED : state->fp_saved;
	}
	if (number == LR) {
		state->lr = is_own ? HELD_CALLER : HELD_OTHER;
		state->lr_saved = is_own ? NOT_SAVED : state->lr_saved;
	}
}

static void apply_transfer(const struct transfer *transfer, struct frame_state *state)
{
	int32_t at = 0;
	bool is_known = place_of(state, transfer->base, &at) && transfer->is_general;

	at += transfer->offset;
	if (transfer->base == SP && transfer->change)
		move_sp(state, transfer->change);
	if (transfer->base == FP && transfer->change)
		state->fp = HELD_OTHER;
	if (transfer->is_vector)
		return;
	if (transfer->is_load) {
		slot_load(state, transfer->first, is_known, at);
		slot_load(state, transfer->second, is_known, at + 8);
	} else if (is_known) {
		slot_store(state, transfer->first, at);
		slot_store(state, transfer->second, at + 8);
	}
}

/* add and sub with an immediate: they set sp and x29. */
static bool apply_addition(uint32_t word, struct frame_state *state)
{
	unsigned to = word_bits(word, 0, 5), from = word_bits(word, 5, 5);
	int32_t number = (int32_t)(word_bits(word, 10, 12) << (word_bits(word, 22, 1) ? 12 : 0));
	int32_t at;
	bool is_known = place_of(state, from, &at);

	if ((word & 0xbf800000) != 0x91000000 || (to != SP && to != FP))
		return false;
	if (word_bits(word, 30, 1))
		number = -number;
	if (to == SP) {
		state->is_sp_lost = !is_known;
		state->sp_at = is_known ? at : 0;
		if (is_known)
			move_sp(state, number);
	} else {
		state->fp = is_known && is_near((int64_t)at + number) ? HELD_FRAME : HELD_OTHER;
		state->fp_at = state->fp == HELD_FRAME ? at + number : 0;
	}
	return true;
}

/* Additions of registers, logic with an immediate, tags: these may write to sp. */
static bool may_write_sp(uint32_t word)
{
	return (word & 0xbfe00000) == 0x8b200000 || /* add, sub, extended */
	       ((word & 0x9f800000) == 0x92000000 && (word & 0x60000000) != 0x60000000) ||
	       (word & 0xbf800000) == 0x91800000; /* addg, subg */
}

/* Loads and stores of vectors and tags that move their base. */
static bool moves_base(uint32_t word)
{
	return (word & 0xbe800000) == 0x0c800000 ||
	       ((word & 0xff200000) == 0xd9200000 && word & 0x400) ||
	       ((word & 0xff200400) == 0xf8200400 && word & 0x800);
}

/* Of a general register, or a load that transfer_read() does not decode: pc-relative, or with an
 * offset in a register. */
static bool writes_first(uint32_t word)
{
	return (word >> 26 & 7) == 4 || (word >> 25 & 7) == 5 ||
	       (word & 0x3f000000) == 0x18000000 ||
	       ((word & 0x3f200c00) == 0x38200800 && word_bits(word, 22, 2));
}

static void apply_other(uint32_t word, struct frame_state *state)
{
	unsigned to = word_bits(word, 0, 5);

	if (to == SP && may_write_sp(word))
		state->is_sp_lost = 1;
	if (word_bits(word, 5, 5) == SP && moves_base(word))
		state->is_sp_lost = 1;
	if (!writes_first(word))
		return;
	if (to == FP)
		state->fp = HELD_OTHER;
	if (to == LR)
		state->lr = word == NO_LR ? HELD_ZERO : HELD_OTHER;
}

/* Moves between vectors and general registers, and of system registers. */
static bool crosses_files(uint32_t word)
{
	return (word & 0x5f20fc00) == 0x1e200000 || (word & 0x5f200000) == 0x1e000000 ||
	       (word & 0x9fe08400) == 0x0e000400 || (word & 0xffd00000) == 0xd5100000 ||
	       (word & 0xfff80000) == 0xd5280000 || /* sysl */
	       (word & 0x1e000000) == 0x04000000;   /* SVE: more than needed */
}

/* Loads and stores that moves_base() and transfer_read() do not decode: exclusive and atomic
 * ones. */
static bool names_register(uint32_t word, unsigned number)
{
	return word_bits(word, 0, 5) == number || word_bits(word, 5, 5) == number ||
	       word_bits(word, 10, 5) == number || word_bits(word, 16, 5) == number;
}

/* Registers of a group that begins at `first`. */
static bool is_among(unsigned number, unsigned first, unsigned count)
{
	return number >= first && number < first + count;
}

/* casp: pairs; ld64b: eight. */
static bool reaches_register(uint32_t word, unsigned number)
{
	if ((word & 0xbfa07c00) == 0x08207c00)
		return is_among(number, word_bits(word, 0, 5), 2) ||
		       is_among(number, word_bits(word, 16, 5), 2);
	return (word & 0xfffffc00) == 0xf83fd000 && is_among(number, word_bits(word, 0, 5), 8);
}

bool instruction_may_write(uint32_t word, unsigned number)
{
	struct transfer it;
	int64_t offset;

	if (transfer_read(word, &it))
		return (it.base == number && it.change) ||
		       (it.is_load && !it.is_vector && (it.first == number || it.second == number));
	if ((word & 0xbe000000) == 0x0c000000) /* of vectors, whole structures */
		return moves_base(word) && word_bits(word, 5, 5) == number;
	if ((word & 0x3f200c00) == 0x3c200800 || /* of a vector, with an offset in a register */
	    (word & 0x3f000000) == 0x1c000000)   /* or pc-relative */
		return false;
	if ((word & 0x0a000000) == 0x08000000)
		return names_register(word, number) || reaches_register(word, number);
	/* Some hints sign x17 or return a value in x16; older processors ignore all of them. */
	if ((word & 0xfffff01f) == 0xd503201f && (number == 16 || number == 17))
		return true;
	if (instruction_flow(word, &offset) != FLOW_ON)
		return false;
	return (writes_first(word) || crosses_files(word)) && word_bits(word, 0, 5) == number;
}

/* mov xN, x30 and mov x30, xN: assembly that calls only its own helpers keeps x30 so. */
static void apply_copy(uint32_t word, struct frame_state *state)
{
	unsigned to = word_bits(word, 0, 5), from = word_bits(word, 16, 5);
	bool is_move = (word & 0xffe0ffe0) == 0xaa0003e0;

	if (is_move && from == LR && to < FP && state->lr == HELD_CALLER)
		state->lr_in = (uint8_t)to;
	else if (state->lr_in != NO_COPY && instruction_may_write(word, state->lr_in))
		state->lr_in = NO_COPY;
	else if (is_move && to == LR && from == state->lr_in && from != NO_COPY)
		state->lr = HELD_CALLER;
}

void instruction_apply(uint32_t word, struct frame_state *state)
{
	struct transfer transfer;
	int64_t offset;

	if (transfer_read(word, &transfer))
		apply_transfer(&transfer, state);
	else if (instruction_flow(word, &offset) == FLOW_CALL)
		state->lr = state->lr == HELD_ZERO ? HELD_ZERO : HELD_OTHER;
	else if (!apply_addition(word, state))
		apply_other(word, state);
	apply_copy(word, state);
}

static const struct {
	uint32_t mask, code;
	enum flow flow;
	uint8_t low, count; /* of the offset in instructions; count 0: none */
} flows[] = {
	{ 0xfc000000, 0x14000000, FLOW_JUMP, 0, 26 },   /* b */
	{ 0xfc000000, 0x94000000, FLOW_CALL, 0, 26 },   /* bl */
	{ 0xff000000, 0x54000000, FLOW_BRANCH, 5, 19 }, /* b.cond */
	{ 0x7e000000, 0x34000000, FLOW_BRANCH, 5, 19 }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, FLOW_BRANCH, 5, 14 }, /* tbz, tbnz */
	{ 0xffe0001f, 0xd4200000, FLOW_END, 0, 0 },     /* brk */
	{ 0xffe0001f, 0xd4400000, FLOW_END, 0, 0 },     /* hlt */
	{ 0xffff0000, 0x00000000, FLOW_END, 0, 0 },     /* udf */
};

enum flow instruction_flow(uint32_t word, int64_t *ret_offset)
{
	*ret_offset = 0;
	if ((word & 0xfe000000) == 0xd6000000)
		return word_bits(word, 21, 2) == 1 ? FLOW_CALL : FLOW_END;
	for (size_t i = 0; i < ARRAY_SIZE(flows); i++) {
		if ((word & flows[i].mask) != flows[i].code)
			continue;
		if (flows[i].count)
			*ret_offset = 4 * (int64_t)word_signed(word, flows[i].low, flows[i].count);
		return flows[i].flow;
	}
	return FLOW_ON;
}

bool instruction_returns(uint32_t word)
{
	return word == RET || word == RETAA || word == RETAB;
}

bool instruction_jumps_to_register(uint32_t word)
{
	return (word & 0xfffffc1f) == 0xd61f0000;
}

static bool is_adrp_x16(uint32_t word)
{
	return (word & 0x9f00001f) == 0x90000010;
}

static bool is_load_of_slot(uint32_t word)
{
	return (word & 0xffc003ff) == 0xf9400211; /* ldr x17, [x16, #n] */
}

uint64_t instruction_stub_slot(uint32_t page, uint32_t load, uint64_t at)
{
	int64_t pages = word_signed(page, 5, 19) * (int64_t)4 + word_bits(page, 29, 2);

	if (!is_adrp_x16(page) || !is_load_of_slot(load))
		return 0;
	return (at & ~0xfffull) + (uint64_t)(pages * 0x1000) + word_bits(load, 10, 12) * 8u;
}

bool instruction_begins_stub(uint32_t word, uint32_t next)
{
	return (is_adrp_x16(word) && is_load_of_slot(next)) ||
	       (word == BTI_C && is_adrp_x16(next)) || (word == BTI_C && next == 0xa9bf7bf0) ||
	       word == 0xa9bf7bf0;
}

bool instruction_begins_function(uint32_t word)
{
	return word == PACIASP || word == PACIBSP || word == BTI_C ||
	       (word & 0xffe07fff) == 0xa9a07bfd; /* stp x29, x30, [sp, #-n]! */
}

bool instruction_makes_room(uint32_t word)
{
	return (word & 0xffc003ff) == 0xd10003ff;
}

bool instruction_sets_fp(uint32_t word, int32_t *ret)
{
	*ret = (int32_t)(word_bits(word, 10, 12) << (word_bits(word, 22, 1) ? 12 : 0));
	return (word & 0xff8003ff) == 0x910003fd;
}

bool instruction_changes_fp(uint32_t word)
{
	struct frame_state state = frame_state_begin();
	struct transfer transfer;

	if (transfer_read(word, &transfer))
		return transfer.base == FP && transfer.change;
	instruction_apply(word, &state);
	return state.fp != HELD_CALLER;
}
