/*
 * The LuaJIT functions (GC64) that a thread runs: starts from the frames on the C stack that the
 * walk has met, each of which leads to its state. The state's own stack has two words before each
 * function's slots: the function, and a link to its caller.
 *
 * A register holds the begin of the innermost function's slots (its base) while the assembly runs;
 * functions called from there find it in the state, if they need it, else fp keeps it meanwhile.
 * The base of compiled code is stored beside the current state.
 */
#pragma once

#include "kernel/interpreters/lua.h"

/* Offsets in a state. */
#define LUAJIT_STATE_SHARED 16
#define LUAJIT_STATE_BASE   32
#define LUAJIT_STATE_STACK  56
#define LUAJIT_STATE_END    48

#define LUAJIT_SAVED_PC      24                 /* in the frame on the C stack */
#define LUAJIT_POINTER       ((1ull << 47) - 1) /* of a slot; the bits above are the kind */
#define LUAJIT_HEAD_SHIFT    8                  /* of the kind, in word 8 of a function */
#define LUAJIT_KIND_FUNCTION 8
#define LUAJIT_ID_SHIFT      16 /* in the same word; 0: a Lua function */
#define LUAJIT_FUNCTION_CODE 32
#define LUAJIT_SHARED_WORDS \
	128 /* so many words of the shared data are searched for the running state */

/* The lowest bits of the second word, and its other contents. */
enum luajit_link {
	LUAJIT_LINK_LUA, /* the caller's position */
	LUAJIT_LINK_C,   /* distance to the caller's base, as for the other two; called by C code */
	LUAJIT_LINK_CONTINUE, /* two words before lies the continuation */
	LUAJIT_LINK_VARARG,   /* the same function again, with its arguments in order */
};
#define LUAJIT_LINK_MASK 3
#define LUAJIT_LINK_SIZE (~7ull)
#define LUAJIT_LINK_P    4 /* a protected call: no continuation */

struct luajit_words {
	struct chain_climb *climb;
	__u64 at, found;
};

/* True if the address can be a base of this state. */
ALWAYS_INLINE int luajit_is_base(struct chain_climb *climb, __u64 base)
{
	const struct chain *chain = climb->chain;
	__u64 function, head;

	if (base & 7 || base <= chain->end || base >= chain->limit)
		return 0;
	function = chain_word(climb, base - 16) & LUAJIT_POINTER;
	head = function ? chain_word(climb, function + 8) : 0;
	return (__u8)(head >> LUAJIT_HEAD_SHIFT) == LUAJIT_KIND_FUNCTION;
}

/* Shared data names the current state among its first words, then the base of compiled code. */
static long luajit_look_for_state(__u32 number, struct luajit_words *search)
{
	__u64 at = search->at + (__u64)number * 8, base;

	if (chain_word(search->climb, at) != search->climb->chain->thread)
		return STEP_ON;
	base = chain_word(search->climb, at + 8);
	if (!luajit_is_base(search->climb, base))
		return STEP_ON;
	search->found = base;
	return STEP_END;
}

/* 0: not found. */
ALWAYS_INLINE __u64 luajit_compiled_base(struct chain_climb *climb)
{
	struct luajit_words search = { .climb = climb };

	search.at = chain_word(climb, climb->chain->thread + LUAJIT_STATE_SHARED);
	bpf_loop(LUAJIT_SHARED_WORDS, luajit_look_for_state, &search, 0);
	return search.found;
}

/* Finds the base of the innermost function, and its position. */
ALWAYS_INLINE __u64 luajit_innermost(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct walk *walk = climb->base.walk;

	if (walk->is_luajit_compiled)
		return luajit_compiled_base(climb);
	if (walk->is_luajit_exact &&
	    luajit_is_base(climb, REGISTERS_LUAJIT_BASE(&walk->registers))) {
		chain->at = REGISTERS_LUAJIT_PC(&walk->registers);
		return REGISTERS_LUAJIT_BASE(&walk->registers);
	}
	if (!walk->is_luajit_exact && walk->luajit_fp != chain->thread &&
	    luajit_is_base(climb, walk->luajit_fp))
		return walk->luajit_fp;
	chain->at = chain_word(climb, walk->luajit[0] + LUAJIT_SAVED_PC);
	return chain_word(climb, chain->thread + LUAJIT_STATE_BASE);
}

/* Enters the state of the frame with this number; 0: it is the same as before, or invalid. */
ALWAYS_INLINE int luajit_enter(struct chain_climb *climb, __u64 number)
{
	struct chain *chain = climb->chain;
	__u64 state;

	BOUND(number, LUAJIT_FRAMES - 1);
	state = chain_word(climb, climb->base.walk->luajit[number] + LUAJIT_FRAME_STATE);
	if (!luajit_may_be_state(state) || state == chain->thread)
		return 0;
	chain->thread = state;
	chain->end = chain_word(climb, state + LUAJIT_STATE_STACK) + 16;
	chain->limit = chain_word(climb, state + LUAJIT_STATE_END);
	chain->at = 0;
	chain->frame =
		number ? chain_word(climb, state + LUAJIT_STATE_BASE) : luajit_innermost(climb);
	return 1;
}

/* Identifies a function by the begin of its instructions. */
ALWAYS_INLINE __u64 luajit_code(struct chain_climb *climb, __u64 slot, __u64 is_entry)
{
	__u64 function = slot & LUAJIT_POINTER;
	__u64 head = function ? chain_word(climb, function + 8) : 0;

	if ((__u8)(head >> LUAJIT_HEAD_SHIFT) == LUAJIT_KIND_FUNCTION &&
	    !(__u8)(head >> LUAJIT_ID_SHIFT))
		return chain_word(climb, function + LUAJIT_FUNCTION_CODE);
	return is_entry ? KERNEL_NATIVE : 0;
}

/* Finds the caller's base, and its position. 0: there is none. */
ALWAYS_INLINE __u64 luajit_caller(struct chain_climb *climb, __u64 base, __u64 link)
{
	struct chain *chain = climb->chain;
	__u64 size = link & LUAJIT_LINK_SIZE, kind = link & LUAJIT_LINK_MASK;

	if (kind == LUAJIT_LINK_LUA) {
		chain->at = link;
		size = (__u8)(chain_word(climb, link - 4) >> 8);
		return base - (size + 2) * 8;
	}
	if (kind == LUAJIT_LINK_CONTINUE && !(link & LUAJIT_LINK_P))
		chain->at = chain_word(climb, base - 24);
	else if (kind != LUAJIT_LINK_VARARG)
		chain->at = 0;
	return size ? base - size : 0;
}

/* Visits one function or one state per step. `frame`: the function's base. */
static long luajit_next_function(__u32 number, struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	__u64 base = chain->frame, link, is_entry;

	if (!base || base <= chain->end) {
		chain->frame = 0;
		if (++chain->before >= climb->base.walk->luajit_count)
			return STEP_END;
		luajit_enter(climb, chain->before);
		return STEP_ON;
	}
	if (chain->count >= INTERPRETED_FRAMES_MAX || base >= chain->limit)
		return STEP_END;
	link = chain_word(climb, base - 8);
	is_entry = (link & LUAJIT_LINK_MASK) == LUAJIT_LINK_C;
	if ((link & LUAJIT_LINK_MASK) != LUAJIT_LINK_VARARG || link & LUAJIT_LINK_P)
		chain_add(chain, luajit_code(climb, chain_word(climb, base - 16), is_entry),
			  chain->at, is_entry);
	chain->frame = luajit_caller(climb, base, link);
	return chain->frame < base ? STEP_ON : STEP_END;
}

ALWAYS_INLINE void luajit_take(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct walk *walk = climb->base.walk;

	chain->thread = chain->before = 0;
	if (!walk->luajit_count || !luajit_enter(climb, 0))
		return;
	if (walk->is_luajit_compiled)
		chain_add(chain, KERNEL_COMPILED, walk->luajit_number, 0);
	bpf_loop(LUA_CALLS_MAX, luajit_next_function, climb, 0);
}
