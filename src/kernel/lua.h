/*
 * The Lua functions that a thread runs. Its state is searched for: struct kernel_lua says how a
 * state is recognized. Memory read here may contain anything, so each search is bounded.
 */
#pragma once

#include "kernel/python.h"

#define LUA_KIND_STATE    8
#define LUA_KIND_FUNCTION 6
#define LUA_KIND_MASK     0x3f
#define LUA_OPERATION     0x3f /* of an instruction of Lua 5.1 */
#define LUA_STACK_WORDS   512  /* so many words up the stack are searched */
#define LUA_JUMPS_MAX     256
#define LUA_STATE_BYTES   40 /* up to the common fields of all states */
#define LUA_CALLS_MAX     (2 * KERNEL_PYTHON_FRAMES)

/* Treats a word of a register or of the stack as a state's address, if its jump mark lies further
 * inside than that of the state found before. `end` is the mark, `thread` the state. */
ALWAYS_INLINE void lua_consider(struct python_climb *climb, __u64 word)
{
	struct python_walk *python = climb->python;
	const struct kernel_lua *lua = &python->other.lua;
	__u64 shared, first, jump;

	if (!word || word & 7 || word >> 48 || word == python->thread || word == python->before)
		return;
	if (read_memory(&climb->base, python->bytes, LUA_STATE_BYTES, word) ||
	    (__u8)python_field(python, 8) != LUA_KIND_STATE)
		return;
	shared = python_field(python, lua->shared);
	if (!shared || (python->shared && shared != python->shared))
		return;
	first = python_word(climb, shared + lua->first);
	if (!first || python_word(climb, first + lua->shared) != shared)
		return;
	jump = python_word(climb, word + lua->jump);
	if (jump ? jump < python->lowest : word != first)
		return;
	/* A state without a mark is the outermost one. */
	if (python->thread && jump - 1 >= python->end - 1)
		return;
	python->thread = word;
	python->end = jump;
}

ALWAYS_INLINE __u64 lua_register(const struct walk *walk, __u64 number)
{
	BOUND(number, 63);
	return number < sizeof(struct pt_regs) / 8 ? ((const __u64 *)&walk->registers)[number] : 0;
}

static long lua_look_at_register(__u32 number, struct python_climb *climb)
{
	lua_consider(climb, lua_register(climb->base.walk, number));
	return STEP_ON;
}

static long lua_look_at_stack(__u32 number, struct python_climb *climb)
{
	struct python_walk *python = climb->python;
	__u64 at = (python->lowest & ~7ull) + (__u64)number * 8, word;

	if ((python->end && at >= python->end) || read_word(&climb->base, at, &word))
		return STEP_END;
	lua_consider(climb, word);
	return STEP_ON;
}

static long lua_look_at_frame(__u32 number, struct python_climb *climb)
{
	const struct walk *walk = climb->base.walk;
	const struct kernel_lua *lua = &climb->python->other.lua;
	__u64 at = number;

	if (at >= walk->sample.user_count)
		return STEP_END;
	at += walk->sample.kernel_count;
	BOUND(at, FRAMES_MASK);
	climb->python->count =
		walk->frames[at] >= lua->code_start && walk->frames[at] < lua->code_end;
	return climb->python->count;
}

/* Finds the outermost mark of the found state. */
static long lua_next_jump(__u32 number, struct python_climb *climb)
{
	__u64 outer = python_word(climb, climb->python->end);

	if (outer <= climb->python->end)
		return STEP_END;
	climb->python->end = outer;
	return STEP_ON;
}

/* Starts with the innermost call of the state in `thread`. */
ALWAYS_INLINE void lua_enter(struct python_climb *climb)
{
	struct python_walk *python = climb->python;
	const struct kernel_lua *lua = &python->other.lua;

	python->shared = python_word(climb, python->thread + lua->shared);
	python->frame = python_word(climb, python->thread + lua->call);
	python->at = 0;
	if (lua->at != KERNEL_NO_STEP)
		python->at = python_word(climb, python->thread + lua->at);
	python->next_interpreter = 0;
	if (lua->first_call != KERNEL_NO_STEP)
		python->next_interpreter = python_word(climb, python->thread + lua->first_call);
}

/* All calls of a state are done: continues with the state that resumed it. */
static long lua_leave(struct python_climb *climb)
{
	struct python_walk *python = climb->python;

	if (!python->end ||
	    python_word(climb, python->shared + python->other.lua.first) == python->thread)
		return STEP_END;
	bpf_loop(LUA_JUMPS_MAX, lua_next_jump, climb, 0);
	python->lowest = python->end;
	python->before = python->thread;
	python->thread = python->end = 0;
	bpf_loop(LUA_STACK_WORDS, lua_look_at_stack, climb, 0);
	if (!python->thread)
		return STEP_END;
	lua_enter(climb);
	return STEP_ON;
}

/* 0: a C function, or no function. */
ALWAYS_INLINE __u64 lua_prototype(struct python_climb *climb, __u64 slot)
{
	const struct kernel_lua *lua = &climb->python->other.lua;
	__u64 function = slot ? python_word(climb, slot) : 0, head;

	if (!function || ((__u8)python_word(climb, slot + 8) & LUA_KIND_MASK) != LUA_KIND_FUNCTION)
		return 0;
	head = python_word(climb, function + 8);
	if ((head & LUA_KIND_MASK) != LUA_KIND_FUNCTION || (lua->has_c_flag && (__u8)(head >> 16)))
		return 0;
	return python_word(climb, function + lua->prototype);
}

struct lua_instructions {
	struct python_climb *climb;
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
ALWAYS_INLINE __u64 lua_innermost_at(struct python_climb *climb, __u64 prototype, __u64 at)
{
	const struct kernel_lua *lua = &climb->python->other.lua;
	struct lua_instructions search = { .climb = climb };

	if (climb->python->at)
		at = climb->python->at;
	if (!lua->is_register)
		return at;
	search.start = python_word(climb, prototype + lua->instructions);
	search.size = (__u64)(__u32)python_word(climb, prototype + lua->count) * 4;
	if (!search.start)
		return at;
	bpf_loop(sizeof(struct pt_regs) / 8, lua_look_for_instruction, &search, 0);
	return search.found ? search.found : at;
}

/* Whether C code called the function of the call in `bytes`; 0 if the next call shows that. */
ALWAYS_INLINE __u64 lua_is_entry(const struct python_walk *python)
{
	const struct kernel_lua *lua = &python->other.lua;
	__u64 bit;

	if (lua->call_operation)
		return 0;
	bit = python_field(python, python->other.frame_mark) >> (lua->mark_bit & 63) & 1;
	return bit ^ lua->is_mark_clear;
}

ALWAYS_INLINE void lua_mark_callee(struct python_climb *climb, __u64 prototype, __u64 at)
{
	struct python_walk *python = climb->python;
	const struct kernel_lua *lua = &python->other.lua;
	__u64 callee = python->count - 1;
	__u8 operation;

	if (!lua->call_operation || !python->count)
		return;
	operation = python_word(climb, at - 4) & LUA_OPERATION;
	if (prototype && (operation == lua->call_operation || operation == lua->tail_operation))
		return;
	BOUND(callee, KERNEL_PYTHON_FRAMES);
	python->frames[callee].at |= 1ull << KERNEL_PYTHON_MARK_SHIFT;
}

ALWAYS_INLINE __u64 lua_previous(const struct python_walk *python)
{
	if (!python->other.frame_stride)
		return python_field(python, python->other.frame_previous);
	return python->frame > python->next_interpreter ? python->frame - python->other.frame_stride
							: 0;
}

/* Visits one call or one state per step. */
static long lua_next_call(__u32 number, struct python_climb *climb)
{
	struct python_walk *python = climb->python;
	__u32 size = python->other.frame_size;
	__u64 at = python->count, prototype, where, is_entry;

	if (!python->frame)
		return lua_leave(climb);
	BOUND(size, KERNEL_PYTHON_FRAME_BYTES - 1);
	if (at >= KERNEL_PYTHON_FRAMES ||
	    read_memory(&climb->base, python->bytes, size, python->frame))
		return STEP_END;
	prototype = lua_prototype(climb, python_field(python, python->other.frame_code));
	where = python_field(python, python->other.frame_at);
	is_entry = lua_is_entry(python);
	lua_mark_callee(climb, prototype, where);
	python->frame = lua_previous(python);
	if (prototype && !at)
		where = lua_innermost_at(climb, prototype, where);
	BOUND(at, KERNEL_PYTHON_FRAMES);
	python->frames[at].code = prototype;
	python->frames[at].at = (where & PYTHON_ADDRESS) | is_entry << KERNEL_PYTHON_MARK_SHIFT;
	python->count = at + 1;
	return STEP_ON;
}

ALWAYS_INLINE void lua_take(struct python_climb *climb)
{
	struct python_walk *python = climb->python;

	python->thread = python->before = python->end = python->shared = 0;
	python->lowest = REGISTERS_SP(&climb->base.walk->registers);
	bpf_loop(SAMPLE_FRAMES_MAX, lua_look_at_frame, climb, 0);
	if (!python->count)
		return;
	python->count = 0;
	bpf_loop(sizeof(struct pt_regs) / 8, lua_look_at_register, climb, 0);
	bpf_loop(LUA_STACK_WORDS, lua_look_at_stack, climb, 0);
	if (!python->thread)
		return;
	lua_enter(climb);
	bpf_loop(LUA_CALLS_MAX, lua_next_call, climb, 0);
}
