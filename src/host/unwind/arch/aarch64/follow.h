/*
 * Follows a frame through a piece of code along all ways that it can take.
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
	const struct code_begins *begins; /* NULL: nothing is known of them */
	bool is_one_frame; /* all of it is one function: calls begin none, and the way that came
			      first is believed where two meet */
	uint32_t count;    /* instructions */
	struct frame_state *states;
	unsigned char *visits; /* enum visit */
	uint32_t *waiting;
	uint32_t waiting_count;
	uint64_t *helper_steps; /* so many may still be taken through helpers (keeps.c) */
	/* Of a guess (guess.c); what was known before stays as it is. */
	bool is_guess;
	bool is_wrong; /* it was none */
	uint32_t *tried;
	uint32_t tried_count;
	bool *is_tried; /* of each instruction */
};

/* -ENOMEM.  What is larger than can be followed at once is cut. */
int follow_open(struct follow *ret, const struct object_part *piece,
		const struct code_begins *begins) MUST_CHECK;
void follow_close(struct follow *follow);

/* An instruction by its number; 0 behind the last one. */
uint32_t follow_word(const struct follow *follow, uint64_t number);
/* A function begins there. */
void follow_begin(struct follow *follow, uint64_t number);
/* A way leads there with this frame. */
void follow_arrive(struct follow *follow, uint64_t number, const struct frame_state *state);
/* Goes all ways on from there. */
void follow_run(struct follow *follow);
/* By x29 where that is the frame's: a caller need not know its sp then, and whoever it called may
 * have changed that.  RULES_NONE: no way leads there. */
struct rules follow_rules(const struct follow *follow, uint32_t number);
