/*
 * Reads a helper from its beginning to its first return.  It must not branch out of itself, and
 * each of its instructions must have a known effect.
 */
#include "host/unwind/arch/x86_64/trial.h"

struct helper {
	uint32_t first, last; /* targets of its branches */
	uint16_t kept;
};

static bool helper_read(struct helper *self, uint32_t at, const struct instruction *it)
{
	int64_t target = (int64_t)at + it->target;

	if (!it->is_plain)
		return false;
	if (it->to < REGISTERS && it->kind != INSTRUCTION_STORE)
		self->kept &= (uint16_t) ~(1u << it->to);
	if (it->kind != INSTRUCTION_BRANCH && it->kind != INSTRUCTION_JUMP)
		return true;
	if (it->target == TARGET_UNKNOWN || target < self->first || target > UINT32_MAX)
		return false;
	self->last = MAX(self->last, (uint32_t)target);
	return true;
}

uint16_t kept_by_call(const struct trial *trial, uint32_t at, const struct instruction *call,
		      uint64_t *steps_left)
{
	int64_t target = call->target == TARGET_UNKNOWN ? -1 : (int64_t)at + call->target;
	struct helper self = { .kept = UINT16_MAX };
	struct instruction it;

	if (target < 0 || target >= (int64_t)trial->size || call->target == call->size)
		return 0;
	at = self.first = (uint32_t)target;
	for (; *steps_left; --*steps_left) {
		if (!trial_read(trial, at, &it) || !helper_read(&self, at, &it))
			return 0;
		if (it.kind == INSTRUCTION_RETURN)
			return self.last <= at ? self.kept : 0;
		at += it.size;
	}
	return 0;
}
