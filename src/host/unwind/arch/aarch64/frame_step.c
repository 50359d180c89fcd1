/*
 * What instructions of aarch64 do with sp, x29 and x30.
 */
#include "host/unwind/arch/frame_step.h"

#include <errno.h>
#include <string.h>

#include "host/unwind/arch/aarch64/instruction.h"

#define FP     29u
#define LR     30u
#define SP     31u
#define FP_FAR (1 << 24) /* further from sp than what an instruction adds */

/* Most instructions neither write to one of the three, nor load or store by one, nor branch. */
static bool is_of_frame(uint32_t word)
{
	bool is_transfer = (word & 0x0a000000) == 0x08000000;

	return word_bits(word, 0, 5) >= FP || (word & 0x1c000000) == 0x14000000 ||
	       (is_transfer && (word_bits(word, 5, 5) >= FP || word_bits(word, 10, 5) >= FP));
}

static void slot_set(struct frame_step *step, unsigned number, const struct transfer *it,
		     int32_t offset)
{
	const struct step_slot slot = { it->is_load ? ACCESS_RESTORE : ACCESS_SAVE, offset,
					it->base == FP };
	bool is_known = it->is_general && it->base >= FP && it->base != LR;

	if (number == FP && is_known)
		step->fp = slot;
	else if (number == FP)
		step->is_fp_lost |= it->is_load;
	if (number == LR && is_known)
		step->ra = slot;
	else if (number == LR)
		step->is_ra_lost |= it->is_load;
}

static void step_transfer(const struct transfer *it, struct frame_step *ret)
{
	if (it->base == SP)
		ret->sp_change = it->change;
	ret->is_fp_lost = it->base == FP && it->change;
	if (it->is_vector)
		return;
	slot_set(ret, it->first, it, it->offset);
	if (it->second != TRANSFER_NONE)
		slot_set(ret, it->second, it, it->offset + 8);
}

/* Applies it to two states: in one x29 is the caller's, in the other it points far from sp. */
static void step_other(uint32_t word, struct frame_step *ret)
{
	struct frame_state state = frame_state_begin(), far = state;

	far.fp = HELD_FRAME;
	far.fp_at = FP_FAR;
	instruction_apply(word, &state);
	instruction_apply(word, &far);
	ret->is_ra_lost = state.lr != HELD_CALLER;
	if (state.fp == HELD_FRAME) {
		ret->move = MOVE_FP_FROM_SP;
		ret->value = state.fp_at;
	} else if (state.is_sp_lost && !far.is_sp_lost) {
		ret->move = MOVE_SP_FROM_FP;
		ret->value = far.sp_at - FP_FAR;
	} else {
		ret->is_sp_lost = state.is_sp_lost;
		ret->is_fp_lost = state.fp != HELD_CALLER;
		ret->sp_change = state.sp_at;
	}
}

static const enum step_flow flows[] = {
	[FLOW_ON] = STEP_ON,     [FLOW_JUMP] = STEP_JUMP, [FLOW_BRANCH] = STEP_BRANCH,
	[FLOW_CALL] = STEP_CALL, [FLOW_END] = STEP_STOP,
};

static void step_flow(uint32_t word, struct frame_step *ret)
{
	int64_t offset;
	enum flow flow = instruction_flow(word, &offset);

	ret->flow = flows[flow];
	ret->target = offset ? offset : STEP_TARGET_UNKNOWN;
	if (instruction_returns(word))
		ret->flow = STEP_RETURN;
	else if (instruction_jumps_to_register(word))
		ret->flow = STEP_JUMP;
}

int frame_step_aarch64(struct frame_step *ret, const unsigned char *bytes, size_t room)
{
	struct transfer transfer;
	uint32_t word;

	if (room < INSTRUCTION_BYTES)
		return -EBADMSG;
	memcpy(&word, bytes, sizeof(word));
	*ret = (struct frame_step){ .size = INSTRUCTION_BYTES, .target = STEP_TARGET_UNKNOWN };
	if (!is_of_frame(word))
		return 0;
	step_flow(word, ret);
	if (ret->flow != STEP_ON)
		return 0;
	if (transfer_read(word, &transfer))
		step_transfer(&transfer, ret);
	else
		step_other(word, ret);
	return 0;
}
