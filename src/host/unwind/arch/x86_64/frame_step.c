/*
 * The effect of x86-64 instructions on rsp and rbp.
 */
#include "host/unwind/arch/frame_step.h"

#include <errno.h>

#include "host/unwind/arch/x86_64/instruction.h"

#define WORD 8

static bool value_fits(int64_t value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

/* `to` has an unknown value. */
static void step_lose(const struct instruction *it, struct frame_step *ret)
{
	ret->is_sp_lost |= it->to == REGISTER_RSP;
	ret->is_fp_lost |= it->to == REGISTER_RBP;
}

static void step_push(const struct instruction *it, struct frame_step *ret)
{
	ret->sp_change = -WORD;
	if (it->from == REGISTER_RBP)
		ret->fp = (struct step_slot){ ACCESS_SAVE, -WORD, false };
}

static void step_pop(const struct instruction *it, struct frame_step *ret)
{
	ret->sp_change = WORD;
	ret->is_sp_lost = it->to == REGISTER_RSP;
	if (it->to == REGISTER_RBP)
		ret->fp = (struct step_slot){ ACCESS_RESTORE, 0, false };
}

static void step_address(const struct instruction *it, struct frame_step *ret)
{
	if (it->to == REGISTER_RSP && it->from == REGISTER_RBP && value_fits(it->value))
		ret->move = MOVE_SP_FROM_FP;
	else if (it->to == REGISTER_RBP && it->from == REGISTER_RSP && value_fits(it->value))
		ret->move = MOVE_FP_FROM_SP;
	else
		step_lose(it, ret);
	ret->value = ret->move ? (int32_t)it->value : 0;
}

static void step_load(const struct instruction *it, struct frame_step *ret)
{
	if (it->to == REGISTER_RBP && it->from == REGISTER_RSP && value_fits(it->value))
		ret->fp = (struct step_slot){ ACCESS_RESTORE, (int32_t)it->value, false };
	else
		step_lose(it, ret);
}

static void step_store(const struct instruction *it, struct frame_step *ret)
{
	if (it->from == REGISTER_RBP && it->to == REGISTER_RSP && value_fits(it->value))
		ret->fp = (struct step_slot){ ACCESS_SAVE, (int32_t)it->value, false };
}

static void step_add(const struct instruction *it, struct frame_step *ret)
{
	if (it->to == REGISTER_RSP && value_fits(it->value))
		ret->sp_change = (int32_t)it->value;
	else
		step_lose(it, ret);
}

static void step_leave(const struct instruction *it, struct frame_step *ret)
{
	(void)it;
	ret->move = MOVE_SP_FROM_FP;
	ret->fp = (struct step_slot){ ACCESS_RESTORE, 0, false };
	ret->sp_change = WORD;
}

static const struct {
	enum step_flow flow;
	void (*act)(const struct instruction *it, struct frame_step *ret);
} steps[] = {
	[INSTRUCTION_PUSH] = { STEP_ON, step_push },
	[INSTRUCTION_POP] = { STEP_ON, step_pop },
	[INSTRUCTION_MOVE] = { STEP_ON, step_address },
	[INSTRUCTION_LOAD] = { STEP_ON, step_load },
	[INSTRUCTION_STORE] = { STEP_ON, step_store },
	[INSTRUCTION_ADD] = { STEP_ON, step_add },
	[INSTRUCTION_ADDRESS] = { STEP_ON, step_address },
	[INSTRUCTION_ALIGN] = { STEP_ON, step_lose },
	[INSTRUCTION_SET] = { STEP_ON, step_lose },
	[INSTRUCTION_LEAVE] = { STEP_ON, step_leave },
	[INSTRUCTION_CALL] = { STEP_CALL, NULL },
	[INSTRUCTION_JUMP] = { STEP_JUMP, NULL },
	[INSTRUCTION_BRANCH] = { STEP_BRANCH, NULL },
	[INSTRUCTION_RETURN] = { STEP_RETURN, NULL },
	[INSTRUCTION_TRAP] = { STEP_STOP, NULL },
};

int frame_step_x86_64(struct frame_step *ret, const unsigned char *bytes, size_t room)
{
	struct instruction it;
	int r = instruction_read(&it, bytes, room);

	if (r < 0)
		return r;
	*ret = (struct frame_step){ .size = it.size, .target = STEP_TARGET_UNKNOWN };
	if (it.kind == INSTRUCTION_OTHER)
		return 0;
	ret->flow = steps[it.kind].flow;
	if (steps[it.kind].act)
		steps[it.kind].act(&it, ret);
	else if (it.target != TARGET_UNKNOWN)
		ret->target = it.target;
	return 0;
}
