/*
 * Follows a frame through a piece of code along all control flow.
 */
#pragma once

#include "host/unwind/arch/aarch64/instruction.h"
#include "host/unwind/arch/code.h"

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
	/* For a guess (guess.c); what was known before stays. */
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

/* An instruction by its number; 0 behind the last one. */
uint32_t follow_word(const struct follow *follow, uint64_t number);
/* A function begins there. */
void follow_begin(struct follow *follow, uint64_t number);
/* Control flow leads there with this frame. */
void follow_arrive(struct follow *follow, uint64_t number, const struct frame_state *state);
/* Follows all control flow from there. */
void follow_run(struct follow *follow);
/* By x29 where that is the frame's: a caller need not know its sp then, and its callee may have
 * changed that.  RULES_NONE: no control flow leads there. */
struct rules follow_rules(const struct follow *follow, uint32_t number);
