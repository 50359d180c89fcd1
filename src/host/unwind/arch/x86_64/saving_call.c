/*
 * Finds calls of functions that begin with pushes.
 */
#include "host/unwind/arch/x86_64/saving_call.h"

#include "host/unwind/arch/x86_64/instruction.h"

#define WORD         8
#define PROLOGUE_MAX 16u /* instructions */
#define RBX          3u
#define R12          12u
#define R15          15u

/* Callee-saved registers.  Instructions number these as DWARF does. */
static bool is_preserved(unsigned number)
{
	return number == RBX || (number >= R12 && number <= R15);
}

/* The offset from the function's CFA at which it saves the register; 0: it does not, or not
 * first. */
static int32_t find_push(const struct object_part *code, unsigned number)
{
	int32_t depth = WORD;
	struct instruction it;
	size_t at = 0;

	for (unsigned i = 0; i < PROLOGUE_MAX; i++, at += it.size) {
		if (at >= code->size || instruction_read(&it, code->bytes + at, code->size - at))
			return 0;
		if (it.kind == INSTRUCTION_PUSH) {
			depth += WORD;
			if (it.from == number)
				return -depth;
			continue;
		}
		if (it.kind > INSTRUCTION_ALIGN && it.kind != INSTRUCTION_SET)
			return 0;
		if (it.kind == INSTRUCTION_POP || it.to == number ||
		    (it.to == REGISTER_RSP && it.kind != INSTRUCTION_STORE))
			return 0;
	}
	return 0;
}

static int32_t find_saved(const struct object *object, uint64_t address, unsigned number)
{
	struct object_part code;

	return object_at(object, address, &code) < 0 ? 0 : find_push(&code, number);
}

bool saving_call_find(const struct object *object, const struct object_part *piece, unsigned number,
		      struct saving_call *call)
{
	struct instruction it;

	for (uint32_t at = call->end; is_preserved(number) && at < piece->size; at += it.size) {
		int32_t saved;

		if (instruction_read(&it, piece->bytes + at, piece->size - at))
			return false;
		if (it.kind != INSTRUCTION_CALL || it.target == TARGET_UNKNOWN)
			continue;
		saved = find_saved(object, piece->address + at + (uint64_t)it.target, number);
		if (!saved)
			continue;
		*call = (struct saving_call){ at, at + it.size, saved };
		return true;
	}
	return false;
}
