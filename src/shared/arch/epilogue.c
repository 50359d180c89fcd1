/*
 * Recognises the end of a function by its instructions.  Used for aarch64 only.
 */
#include "shared/arch/epilogue.h"

#define MOV_X0_X19 0xaa1303e0u
#define AUTIASP    0xd50323bfu
#define RET        0xd65f03c0u

/* Loads from the stack pointer on: the instruction without its offset and registers. */
#define LOAD_MASK 0xffc003e0u
#define LOAD_PAIR 0xa94003e0u
#define LOAD_ONE  0xf94003e0u
#define POP_MASK  0xffc07fffu
#define POP_FRAME 0xa8c07bfdu /* ldp x29, x30, [sp], # */

#define FIRST_KEPT 19u
#define LAST_KEPT  28u

static bool is_kept(uint32_t number)
{
	return number >= FIRST_KEPT && number <= LAST_KEPT;
}

static bool loads_kept(uint32_t instruction)
{
	uint32_t first = instruction & 31, second = instruction >> 10 & 31;

	if ((instruction & LOAD_MASK) == LOAD_PAIR)
		return is_kept(first) && is_kept(second);
	return (instruction & LOAD_MASK) == LOAD_ONE && is_kept(first);
}

bool epilogue_read(const uint32_t *code, struct epilogue *ret)
{
	const uint32_t *at = code + 1, *end = code + EPILOGUE_MAX;

	if (code[0] != MOV_X0_X19)
		return false;
	while (at < end - 2 && loads_kept(*at))
		at++;
	if ((*at & POP_MASK) != POP_FRAME)
		return false;
	ret->frame_size = (*at++ >> 15 & 127) * 8;
	ret->is_signed = *at == AUTIASP;
	at += ret->is_signed;
	return at < end && *at == RET && ret->frame_size >= 16 &&
	       ret->frame_size <= EPILOGUE_FRAME && ret->frame_size % 16 == 0;
}
