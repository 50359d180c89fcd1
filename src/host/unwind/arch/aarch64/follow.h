/*
 * Follows a frame through a piece of code along all control flow.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/unwind/arch/aarch64/instruction.h"
#include "host/unwind/arch/code.h"

#define CALL_KERNEL  0xd4000001u /* svc #0 */
#define RT_SIGRETURN 0xd2801168u /* mov x8, #139 */
#define EXIT         0xd2800ba8u /* mov x8, #93: of a thread */
#define EXIT_GROUP   0xd2800bc8u /* mov x8, #94 */

enum visit {
	VISIT_NEVER,
	VISIT_DONE,
	VISIT_WAITING,
};

struct follow {
	const struct object_part *piece;
	const struct code_begins *begins; /* NULL: not known */
	bool is_one_frame; /* a single function: calls begin none, the first flow counts */
	uint32_t count;    /* instructions */
	struct frame_state *states;
	unsigned char *visits; /* enum visit */
	uint32_t *waiting;
	uint32_t waiting_count;
	uint64_t *helper_steps; /* remaining steps through helpers (keeps.c) */
	/* For a guess; what was known before stays. */
	bool is_guess;
	bool is_wrong; /* it is disproved */
	uint32_t *tried;
	uint32_t tried_count;
	bool *is_tried; /* for each instruction */
};

/* -ENOMEM.  A piece larger than can be followed is cut. */
int follow_open(struct follow *ret, const struct object_part *piece,
		const struct code_begins *begins) MUST_CHECK;
void follow_close(struct follow *follow);

DEFINE_STRUCT_CLEANUP(follow, follow_close)

/* An instruction by its number; 0 behind the last one. */
uint32_t follow_word(const struct follow *follow, uint64_t number);
/* A function begins there. */
void follow_begin(struct follow *follow, uint64_t number);
/* Control flow leads there with this frame. */
void follow_arrive(struct follow *follow, uint64_t number, const struct frame_state *state);
/* Follows all control flow from there. */
void follow_run(struct follow *follow);
/* Follows a function whose beginning shows by its first instruction only, by no name and no call;
 * drops it when it returns with another sp, or meets what is known with another frame. */
void follow_guess(struct follow *follow, uint32_t number);
/* By x29 where that is the frame's: a caller need not know its sp then, and its callee may have
 * changed that.  RULES_NONE: no control flow leads there. */
struct rules follow_rules(const struct follow *follow, uint32_t number);

/* Fills the space between functions. */
bool code_is_padding(uint32_t word);
/* Assembly keeps its return address in a register that calls may change, across calls of its own
 * helpers: whether the function at this instruction calls no other and never writes to the
 * register. A piece has a limited number of steps for all queries: false after the last one. */
bool function_keeps(const struct follow *follow, uint64_t number, unsigned kept);

bool begins_has(const struct code_begins *begins, uint64_t address);
bool begins_has_name(const struct code_begins *begins, uint64_t address);

/* Whether the code is swapcontext(): a member of code_of_aarch64. */
bool swap_read(const struct object_part *code, struct swap_code *ret);
