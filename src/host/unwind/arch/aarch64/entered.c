/*
 * Code that is entered by a trampoline: the trampoline saves what its caller needs, and jumps to an
 * address in a register; all code that runs there has the frame that it made.
 */
#include <errno.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/unwind/arch/aarch64/follow.h"

#define TRAMPOLINE_MAX 32u /* instructions to its jump */

/* The jump, with the frame made; follow->count: not found. */
static uint32_t find_jump(const struct follow *follow)
{
	for (uint32_t i = 0; i < MIN(follow->count, TRAMPOLINE_MAX); i++) {
		const struct frame_state *state = &follow->states[i];

		if (follow->visits[i] == VISIT_NEVER || !state->is_known)
			break;
		if (instruction_jumps_to_register(follow_word(follow, i)))
			return state->lr_saved != NOT_SAVED && !state->is_sp_lost ? i
										  : follow->count;
	}
	return follow->count;
}

/* Adds the trampoline itself, with the code behind its jump; then all code that it enters. */
static int add_rows(struct follow *follow, uint32_t jump, struct rows *rows)
{
	const struct frame_state made = follow->states[jump];
	struct rules rules = follow_rules(follow, jump);
	uint32_t end = jump + 1;
	int r = 0;

	while (end < follow->count && !instruction_returns(follow_word(follow, end)))
		end++;
	follow_arrive(follow, jump + 1, &made);
	follow_run(follow);
	for (uint32_t i = 0; !r && i < MIN(end + 1, follow->count); i++) {
		struct rules own = follow_rules(follow, i);

		r = rows_add_rules(rows, i * INSTRUCTION_BYTES,
				   own.kind == RULES_NONE ? &rules : &own);
	}
	return r ? r : rows_add_rules(rows, (end + 1) * INSTRUCTION_BYTES, &rules);
}

int entered_add_rows(const struct object_part *piece, struct rows *rows)
{
	CLEANUP(follow_close) struct follow follow = { 0 };
	uint32_t jump;
	int r = follow_open(&follow, piece, /* begins */ NULL);

	if (r)
		return r;
	if (!instruction_makes_room(follow_word(&follow, 0)))
		return -ENODATA;
	follow.is_one_frame = true;
	follow_begin(&follow, 0);
	follow_run(&follow);
	jump = find_jump(&follow);
	return jump < follow.count ? add_rows(&follow, jump, rows) : -ENODATA;
}
