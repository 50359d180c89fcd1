/*
 * The Lua functions that a thread runs. Its state is searched for: struct kernel_lua says how a
 * state is recognized. Memory read here may contain anything, so each search is bounded.
 */
#pragma once

#include "kernel/interpreters/chain.h"

#define LUA_KIND_STATE    8
#define LUA_KIND_FUNCTION 6
#define LUA_KIND_MASK     0x3f
#define LUA_OPERATION     0x3f /* of an instruction of Lua 5.1 */
#define LUA_STACK_WORDS   512  /* so many words up the stack are searched */
#define LUA_JUMPS_MAX     256
#define LUA_STATE_BYTES   40 /* up to the common fields of all states */
#define LUA_CALLS_MAX     (2 * INTERPRETED_FRAMES_MAX)

/* Treats a word of a register or of the stack as a state's address, if its jump mark lies further
 * inside than that of the state found before. `end` is the mark, `thread` the state. */
ALWAYS_INLINE void lua_consider(struct chain_climb *climb, __u64 word)
{
	struct chain *chain = climb->chain;
	const struct kernel_lua *lua = &climb->chain->layout.lua;
	__u64 shared, first, jump;

	if (!word || word & 7 || word >> 48 || word == chain->thread || word == chain->before)
		return;
	if (read_memory(&climb->base, chain->bytes, LUA_STATE_BYTES, word) ||
	    (__u8)chain_field(chain, 8) != LUA_KIND_STATE)
		return;
	shared = chain_field(chain, lua->shared);
	if (!shared || (chain->shared && shared != chain->shared))
		return;
	first = chain_word(climb, shared + lua->first);
	if (!first || chain_word(climb, first + lua->shared) != shared)
		return;
	jump = chain_word(climb, word + lua->jump);
	if (jump ? jump < chain->lowest : word != first)
		return;
	/* A state without a mark is the outermost one. */
	if (chain->thread && jump - 1 >= chain->end - 1)
		return;
	chain->thread = word;
	chain->end = jump;
}

ALWAYS_INLINE __u64 lua_register(const struct walk *walk, __u64 number)
{
	BOUND(number, 63);
	return number < sizeof(struct pt_regs) / 8 ? ((const __u64 *)&walk->registers)[number] : 0;
}

static long lua_look_at_register(__u32 number, struct chain_climb *climb)
{
	lua_consider(climb, lua_register(climb->base.walk, number));
	return STEP_ON;
}

static long lua_look_at_stack(__u32 number, struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	__u64 at = (chain->lowest & ~7ull) + (__u64)number * 8, word;

	if ((chain->end && at >= chain->end) || read_word(&climb->base, at, &word))
		return STEP_END;
	lua_consider(climb, word);
	return STEP_ON;
}

static long lua_look_at_frame(__u32 number, struct chain_climb *climb)
{
	const struct walk *walk = climb->base.walk;
	const struct kernel_lua *lua = &climb->chain->layout.lua;
	__u64 at = number;

	if (at >= walk->sample.user_count)
		return STEP_END;
	at += walk->sample.kernel_count;
	BOUND(at, FRAMES_MASK);
	climb->chain->count =
		walk->frames[at] >= lua->code_start && walk->frames[at] < lua->code_end;
	return climb->chain->count;
}

/* Finds the outermost mark of the found state. */
static long lua_next_jump(__u32 number, struct chain_climb *climb)
{
	__u64 outer = chain_word(climb, climb->chain->end);

	if (outer <= climb->chain->end)
		return STEP_END;
	climb->chain->end = outer;
	return STEP_ON;
}

/* Starts with the innermost call of the state in `thread`. */
ALWAYS_INLINE void lua_enter(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct kernel_lua *lua = &climb->chain->layout.lua;

	chain->shared = chain_word(climb, chain->thread + lua->shared);
	chain->frame = chain_word(climb, chain->thread + lua->call);
	chain->at = 0;
	if (lua->at != KERNEL_NO_STEP)
		chain->at = chain_word(climb, chain->thread + lua->at);
	chain->next = 0;
	if (lua->first_call != KERNEL_NO_STEP)
		chain->next = chain_word(climb, chain->thread + lua->first_call);
}

/* All calls of a state are done: continues with the state that resumed it. */
static long lua_leave(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;

	if (!chain->end ||
	    chain_word(climb, chain->shared + climb->chain->layout.lua.first) == chain->thread)
		return STEP_END;
	bpf_loop(LUA_JUMPS_MAX, lua_next_jump, climb, 0);
	chain->lowest = chain->end;
	chain->before = chain->thread;
	chain->thread = chain->end = 0;
	bpf_loop(LUA_STACK_WORDS, lua_look_at_stack, climb, 0);
	if (!chain->thread)
		return STEP_END;
	lua_enter(climb);
	return STEP_ON;
}

/* 0: a C function, or no function. */
ALWAYS_INLINE __u64 lua_prototype(struct chain_climb *climb, __u64 slot)
{
	const struct kernel_lua *lua = &climb->chain->layout.lua;
	__u64 function = slot ? chain_word(climb, slot) : 0, head;

	if (!function || ((__u8)chain_word(climb, slot + 8) & LUA_KIND_MASK) != LUA_KIND_FUNCTION)
		return 0;
	head = chain_word(climb, function + 8);
	if ((head & LUA_KIND_MASK) != LUA_KIND_FUNCTION || (lua->has_c_flag && (__u8)(head >> 16)))
		return 0;
	return chain_word(climb, function + lua->prototype);
}

struct lua_instructions {
	struct chain_climb *climb;
	__u64 start, size, found;
};

static long lua_look_for_instruction(__u32 number, struct lua_instructions *search)
{
	__u64 word = lua_register(search->climb->base.walk, number);

	if (word & 3 || word - search->start > search->size)
		return STEP_ON;
	search->found = word;
	return STEP_END;
}

/* The position in the innermost function: the state has the position of the last instruction that
 * could fail, and a register has the current one. */
ALWAYS_INLINE __u64 lua_innermost_at(struct chain_climb *climb, __u64 prototype, __u64 at)
{
	const struct kernel_lua *lua = &climb->chain->layout.lua;
	struct lua_instructions search = { .climb = climb };

	if (climb->chain->at)
		at = climb->chain->at;
	if (!lua->is_register)
		return at;
	search.start = chain_word(climb, prototype + lua->instructions);
	search.size = (__u64)(__u32)chain_word(climb, prototype + lua->count) * 4;
	if (!search.start)
		return at;
	bpf_loop(sizeof(struct pt_regs) / 8, lua_look_for_instruction, &search, 0);
	return search.found ? search.found : at;
}

/* Whether C code called the function of the call in `bytes`; 0 if the next call shows that. */
ALWAYS_INLINE __u64 lua_is_entry(struct chain_climb *climb)
{
	const struct kernel_lua *lua = &climb->chain->layout.lua;
	__u64 bit;

	if (lua->call_operation)
		return 0;
	bit = chain_field(climb->chain, climb->chain->layout.frame_mark) >> (lua->mark_bit & 63) &
	      1;
	return bit ^ lua->is_mark_clear;
}

ALWAYS_INLINE void lua_mark_callee(struct chain_climb *climb, __u64 prototype, __u64 at)
{
	const struct kernel_lua *lua = &climb->chain->layout.lua;
	__u8 operation;

	if (!lua->call_operation || !climb->chain->count)
		return;
	operation = chain_word(climb, at - 4) & LUA_OPERATION;
	if (!prototype || (operation != lua->call_operation && operation != lua->tail_operation))
		chain_mark_last(climb->chain);
}

ALWAYS_INLINE __u64 lua_previous(struct chain_climb *climb)
{
	const struct chain *chain = climb->chain;

	if (!climb->chain->layout.frame_stride)
		return chain_field(chain, climb->chain->layout.frame_previous);
	return chain->frame > chain->next ? chain->frame - climb->chain->layout.frame_stride : 0;
}

/* Visits one call or one state per step. */
static long lua_next_call(__u32 number, struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	__u64 prototype, where, is_entry;

	if (!chain->frame)
		return lua_leave(climb);
	if (chain->count >= INTERPRETED_FRAMES_MAX ||
	    chain_read_frame(climb, chain, climb->chain->layout.frame_size))
		return STEP_END;
	prototype = lua_prototype(climb, chain_field(chain, climb->chain->layout.frame_code));
	where = chain_field(chain, climb->chain->layout.frame_at);
	is_entry = lua_is_entry(climb);
	lua_mark_callee(climb, prototype, where);
	chain->frame = lua_previous(climb);
	if (prototype && !chain->count)
		where = lua_innermost_at(climb, prototype, where);
	chain_add(chain, prototype, where, is_entry);
	return STEP_ON;
}

ALWAYS_INLINE void lua_take(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;

	chain->thread = chain->before = chain->end = chain->shared = 0;
	chain->lowest = REGISTERS_SP(&climb->base.walk->registers);
	bpf_loop(SAMPLE_FRAMES_MAX, lua_look_at_frame, climb, 0);
	if (!chain->count)
		return;
	chain->count = 0;
	bpf_loop(sizeof(struct pt_regs) / 8, lua_look_at_register, climb, 0);
	bpf_loop(LUA_STACK_WORDS, lua_look_at_stack, climb, 0);
	if (!chain->thread)
		return;
	lua_enter(climb);
	bpf_loop(LUA_CALLS_MAX, lua_next_call, climb, 0);
}
