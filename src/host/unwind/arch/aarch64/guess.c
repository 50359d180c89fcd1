/*
 * Guesses where functions begin.  Code may save x29 and x30 in its middle, as _dl_tlsdesc_dynamic
 * does where it has to call: then a frame followed from there proves wrong.
 */
#include "host/unwind/arch/aarch64/guess.h"

bool guess_takes(struct follow *follow, uint32_t number)
{
	if (follow->is_tried[number])
		return true;
	if (follow->visits[number] != VISIT_NEVER) {
		follow->is_wrong = true;
		return false;
	}
	follow->is_tried[number] = true;
	follow->tried[follow->tried_count++] = number;
	return true;
}

void guess_begin(struct follow *follow, uint32_t number)
{
	follow->is_guess = true;
	follow->is_wrong = false;
	follow_begin(follow, number);
	follow_run(follow);
	for (uint32_t i = 0; i < follow->tried_count; i++) {
		follow->is_tried[follow->tried[i]] = false;
		if (follow->is_wrong)
			follow->visits[follow->tried[i]] = VISIT_NEVER;
	}
	follow->tried_count = 0;
	follow->is_guess = false;
}
