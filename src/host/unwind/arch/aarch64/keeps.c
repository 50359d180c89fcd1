/*
 * Reads a helper from its beginning to its last return.  It may jump to another one and return from
 * there, but it must neither call nor jump to an address in a register.
 */
#include "host/unwind/arch/aarch64/follow.h"

#define STEPS_MAX 4096u

struct helper {
	uint64_t at, first, last; /* targets of branches are between first and last */
};

/* Behind all targets of branches: only what it jumps to follows. */
static bool helper_jump(struct helper *self, uint64_t target)
{
	if (self->last <= self->at) {
		*self = (struct helper){ .at = target, .first = target, .last = target };
		return true;
	}
	if (target < self->first)
		return false;
	self->last = MAX(self->last, target);
	self->at++;
	return true;
}

static bool helper_step_over(struct helper *self, enum flow flow, uint64_t target)
{
	if (flow == FLOW_JUMP)
		return helper_jump(self, target);
	if (flow == FLOW_BRANCH && target < self->first)
		return false;
	if (flow == FLOW_BRANCH)
		self->last = MAX(self->last, target);
	self->at++;
	return true;
}

bool function_keeps(const struct follow *follow, uint64_t number, unsigned kept)
{
	struct helper self = { .at = number, .first = number, .last = number };

	for (unsigned i = 0; i < STEPS_MAX && self.at < follow->count && *follow->helper_steps;
	     i++, --*follow->helper_steps) {
		uint32_t word = follow_word(follow, self.at);
		int64_t offset;
		enum flow flow = instruction_flow(word, &offset);
		uint64_t target =
			(uint64_t)((int64_t)self.at + offset / (int64_t)INSTRUCTION_BYTES);

		if (flow == FLOW_CALL || instruction_may_write(word, kept))
			return false;
		if (instruction_returns(word) && self.last <= self.at)
			return true;
		if (flow == FLOW_END && !instruction_returns(word))
			return false;
		if (!helper_step_over(&self, flow, target))
			return false;
	}
	return false;
}
