/*
 * Follows a frame through a function along all ways that it can take, and believes what it found
 * only if every return finds the frame as it was at the begin.
 */
#pragma once

#include "host/unwind/arch/code.h"
#include "host/unwind/arch/x86_64/code_state.h"

/* What was believed at one byte before the function that is tried went there with another state. */
struct trial_change {
	uint32_t at, number;
	unsigned char marks;
};

struct trial {
	const struct object_part *piece;
	const struct code_begins *begins;
	uint32_t size;
	uint32_t *numbers;    /* for each byte: which state is there, counted from 1; 0: none */
	unsigned char *marks; /* for each byte: enum trial_mark */
	struct code_state *states;
	size_t state_count, state_room;
	uint32_t *waiting, *seen; /* of the function that is tried */
	uint32_t waiting_count, seen_count;
	struct trial_change *changes;
	size_t change_count, change_room;
	uint64_t steps_left;
	uint32_t begin;    /* of the function that is tried */
	uint32_t by_table; /* the state at its jump by a table; 0: none */
	bool follows_tables, is_behind_table;
	bool is_named; /* it is known that a function begins where this one does */
	bool has_returned;
	bool is_failed; /* it cannot be one, or it is not understood */
	int error;      /* -ENOMEM */
};

enum trial_mark {
	MARK_WAITING = 1,
	MARK_SEEN = 2,     /* by the function that is tried */
	MARK_BELIEVED = 4, /* of one that was tried before */
	MARK_LEAVES = 8,   /* from here a way leads to a return */
	MARK_CALLED = 16,  /* a function that is believed calls this */
	MARK_TRIED = 32,   /* a function was tried from here */
};

/* -ENOMEM. */
int trial_open(struct trial *ret, const struct object_part *piece,
	       const struct code_begins *begins) MUST_CHECK;
void trial_close(struct trial *trial);

/* Tries a function that begins there.  -ENOMEM. */
int trial_run(struct trial *trial, uint32_t at, bool is_named) MUST_CHECK;
/* RULES_NONE: nothing is known. */
struct rules trial_rules(const struct trial *trial, uint32_t at);
/* 0 where the bytes are none. */
unsigned trial_read(const struct trial *trial, uint32_t at, struct instruction *ret);
/* What stands between functions; its size, or 0. */
unsigned trial_padding(const struct trial *trial, uint32_t at);
/* Another instruction must come from elsewhere. */
bool trial_is_over(const struct trial *trial, uint32_t at, const struct instruction *it);

/* Assembly keeps its stack pointer in a register that calls may change, across calls of its own
 * helpers: the registers, a bit for each, that the called function never writes; 0 where that is
 * not known.  Its instructions count against steps_left. */
uint16_t kept_by_call(const struct trial *trial, uint32_t at, const struct instruction *call,
		      uint64_t *steps_left);
