/*
 * The chain of frames of an interpreter: what reads it in the memory of its thread, which runs
 * nothing else meanwhile, and sends it. The host provides the layout, and interprets the frames.
 *
 * CHAIN_SCRATCH: the name of the map in which an object keeps the chain.
 */
#pragma once

#include "kernel/base/ids.h"
#include "kernel/walk/walk.h"

#define CHAIN_ADDRESS ((1ull << INTERPRETED_MARK_SHIFT) - 1)

/* By PID. */
MAP(interpreters, BPF_MAP_TYPE_HASH, KERNEL_PROCESSES_MAX, struct kernel_interpreter);

/* By TID: the address of the thread's state at the last lookup. */
MAP(interpreter_threads, BPF_MAP_TYPE_HASH, 16384, __u64);

struct chain {
	struct kernel_interpreter layout;
	__u64 thread, frame; /* addresses: the thread's state, and the next frame to read */
	__u64 identity;      /* the thread's identity in its state */
	__u64 end;           /* of the stack that contains its frames */
	__u64 at;            /* position of the next function */
	__u64 before;        /* number of frames before this stack's */
	__u64 next;          /* Python: address of the pointer to the next interpreter; else where a
				list of threads or calls begins */
	__u64 lowest;        /* Lua: marks of running states are not below this */
	__u64 limit;         /* LuaJIT: the state's bases are below this */
	__u64 shared;        /* Lua: common to all states of this stack */
	__u64 count;
	struct sample sample;
	struct interpreted_frame
		frames[INTERPRETED_FRAMES_MAX + 1]; /* directly behind the sample */
	__u8 bytes[INTERPRETED_FRAME_BYTES];        /* of the frame being read */
};

#ifdef ITERATOR
MAP(CHAIN_SCRATCH, BPF_MAP_TYPE_ARRAY, 1, struct chain);
#else
MAP(CHAIN_SCRATCH, BPF_MAP_TYPE_PERCPU_ARRAY, 1, struct chain);
#endif

/* The argument of a step. */
struct chain_climb {
	struct climb base;
	struct chain *chain;
};

/* A thread's ID in its own namespace. */
ALWAYS_INLINE __u32 inner_number(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid *number = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      BPF_CORE_READ(pid, level) * bpf_core_type_size(struct upid);

	return BPF_CORE_READ(number, nr);
}

/* 0 also if the memory is unreadable. */
ALWAYS_INLINE __u64 chain_word(struct chain_climb *climb, __u64 address)
{
	__u64 word = 0;

	return read_memory(&climb->base, &word, sizeof(word), address) ? 0 : word;
}

/* Reads so many bytes of the next frame. */
ALWAYS_INLINE long chain_read_frame(struct chain_climb *climb, struct chain *chain, __u32 size)
{
	BOUND(size, INTERPRETED_FRAME_BYTES - 1);
	return read_memory(&climb->base, chain->bytes, size, chain->frame);
}

/* A word of the frame being read. */
ALWAYS_INLINE __u64 chain_field(const struct chain *chain, __u64 offset)
{
	BOUND(offset, INTERPRETED_FRAME_BYTES - 8);
	return *(const __u64 *)(chain->bytes + offset);
}

ALWAYS_INLINE void chain_add(struct chain *chain, __u64 code, __u64 at, __u64 mark)
{
	__u64 number = chain->count;

	BOUND(number, INTERPRETED_FRAMES_MAX);
	chain->frames[number].code = code;
	chain->frames[number].at = (at & CHAIN_ADDRESS) | mark << INTERPRETED_MARK_SHIFT;
	chain->count = number + 1;
}

/* C code called the function of the frame added last. */
ALWAYS_INLINE void chain_mark_last(struct chain *chain)
{
	__u64 last = chain->count - 1;

	BOUND(last, INTERPRETED_FRAMES_MAX);
	chain->frames[last].at |= 1ull << INTERPRETED_MARK_SHIFT;
}

#define CHAINED_THREADS_MAX 2048

/* 0: unreadable. */
ALWAYS_INLINE __u64 chained_step(struct chain_climb *climb, __u64 from, __u16 offset)
{
	if (!from || offset == KERNEL_NO_STEP)
		return from;
	return chain_word(climb, from + offset);
}

ALWAYS_INLINE int chained_is_thread(struct chain_climb *climb, __u64 thread)
{
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 native = chained_step(climb, thread, layout->thread_native);

	return native && (__u32)chain_word(climb, native + layout->thread_id) ==
				 (__u32)climb->chain->identity;
}

/* next: the first thread of the ring. */
static long chained_next_thread(__u32 number, struct chain_climb *climb)
{
	struct chain *chain = climb->chain;

	if (chained_is_thread(climb, chain->thread)) {
		chain->frame = chain->thread;
		return STEP_END;
	}
	chain->thread = chained_step(climb, chain->thread, climb->chain->layout.thread_next);
	return chain->thread && chain->thread != chain->next ? STEP_ON : STEP_END;
}

ALWAYS_INLINE __u64 chained_start(struct chain_climb *climb)
{
	__u64 root = chain_word(climb, climb->chain->layout.root);

	return chained_step(climb, root, climb->chain->layout.start);
}

/* Sets `frame` to the thread; 0: it is no thread of the interpreter. */
ALWAYS_INLINE void chained_find_thread(struct chain_climb *climb, __u32 tid)
{
	struct chain *chain = climb->chain;
	__u64 *known = bpf_map_lookup_elem(&interpreter_threads, &tid);

	chain->frame = known && chained_is_thread(climb, *known) ? *known : 0;
	if (chain->frame)
		return;
	chain->thread = chained_start(climb);
	chain->next = chain->thread;
	bpf_loop(CHAINED_THREADS_MAX, chained_next_thread, climb, 0);
	if (chain->frame)
		bpf_map_update_elem(&interpreter_threads, &tid, &chain->frame, BPF_ANY);
}

/* Finds the thread's innermost frame. The outermost entry of a stack is no function's. */
ALWAYS_INLINE void chained_find_frame(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 holder = chained_step(climb, chain->frame, layout->thread_holder);

	chain->frame = chained_step(climb, holder, layout->holder_frame);
	chain->end = ~0ull;
	if (holder && layout->frame_stride)
		chain->end = chain_word(climb, holder + layout->holder_stack) +
			     chain_word(climb, holder + layout->holder_words) * 8 -
			     layout->frame_stride;
}

ALWAYS_INLINE __u64 chained_mark(struct chain_climb *climb)
{
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 word = chain_field(climb->chain, layout->frame_mark);

	if (layout->is_mark_behind)
		word = chain_word(climb, word);
	return (word & layout->mark_bits) != 0;
}

ALWAYS_INLINE __u64 chained_at(struct chain_climb *climb)
{
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 at = chain_field(climb->chain, layout->frame_at);

	if (layout->line != KERNEL_NO_STEP)
		at = at ? (__u32)chain_word(climb, at + layout->line) : 0;
	return at;
}

ALWAYS_INLINE __u64 chained_code(struct chain_climb *climb)
{
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 code = chain_field(climb->chain, layout->frame_code);

	if (!code || layout->code_name == KERNEL_NO_STEP ||
	    chain_word(climb, code + layout->code_name))
		return code;
	return chain_word(climb, code + layout->code_file) | KERNEL_OUTSIDE;
}

static long chained_next_frame(__u32 number, struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct kernel_interpreter *layout = &climb->chain->layout;

	if (!chain->frame || chain->frame >= chain->end ||
	    chain_read_frame(climb, chain, layout->frame_size))
		return STEP_END;
	chain_add(chain, chained_code(climb), chained_at(climb), chained_mark(climb));
	chain->frame = layout->frame_stride ? chain->frame + layout->frame_stride
					    : chain_field(chain, layout->frame_previous);
	return STEP_ON;
}

/* Sets `frame` to the interpreter's state of this thread; 0: it has none. */
ALWAYS_INLINE void chained_find(struct chain_climb *climb, __u32 pid, __u32 tid)
{
	climb->chain->identity = inner_number(climb->base.task);
	if (climb->chain->layout.thread_next != KERNEL_NO_STEP)
		chained_find_thread(climb, tid);
	else if (pid == tid)
		climb->chain->frame = chained_start(climb);
}

ALWAYS_INLINE void chained_take(struct chain_climb *climb)
{
	chained_find_frame(climb);
	bpf_loop(INTERPRETED_FRAMES_MAX, chained_next_frame, climb, 0);
}

#define CONTEXTS_MAX (4 * INTERPRETED_FRAMES_MAX) /* contexts and stacks */

ALWAYS_INLINE void contexts_enter_stack(struct chain_climb *climb, __u64 stack)
{
	struct chain *chain = climb->chain;
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__s32 last = (__s32)chain_word(climb, stack + layout->contexts.last);

	chain->thread = stack;
	chain->before = chain->count;
	chain->end = chain_word(climb, stack + layout->contexts.first);
	chain->frame = last < 0 ? 0 : chain->end + (__u64)last * layout->frame_stride;
}

/* C code called the function that entered this stack; top-level code called the first stack's. */
ALWAYS_INLINE long contexts_leave_stack(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;

	chain->thread = chain_word(climb, chain->thread + climb->chain->layout.contexts.previous);
	if (!chain->thread)
		return STEP_END;
	if (chain->count > chain->before)
		chain_mark_last(chain);
	contexts_enter_stack(climb, chain->thread);
	return STEP_ON;
}

/* Visits one context or one stack per step. */
static long contexts_next(__u32 number, struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u8 kind;

	if (!chain->frame || chain->frame < chain->end)
		return contexts_leave_stack(climb);
	if (chain->count >= INTERPRETED_FRAMES_MAX - 1 ||
	    chain_read_frame(climb, chain, layout->frame_size))
		return STEP_END;
	chain->frame -= layout->frame_stride;
	kind = chain->bytes[0] & layout->contexts.kind_mask;
	if (kind != layout->contexts.kind && kind != layout->contexts.other_kind)
		return STEP_ON;
	chain_add(chain, chain_field(chain, layout->frame_code), chain->at,
		  !chain_field(chain, layout->frame_mark));
	chain->at = chain_field(chain, layout->frame_at);
	return STEP_ON;
}

/* Starts from the holder in `frame`; 0: the thread runs nothing. */
ALWAYS_INLINE void contexts_take(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct kernel_contexts *contexts = &climb->chain->layout.contexts;
	__u64 holder = chain->frame, stack;

	if (!holder)
		return;
	chain->at = chain_word(climb, holder + contexts->at);
	stack = chain_word(climb, holder + contexts->stack);
	if (!stack)
		return;
	contexts_enter_stack(climb, stack);
	bpf_loop(CONTEXTS_MAX, contexts_next, climb, 0);
	if (!chain->thread)
		chain_add(chain, KERNEL_OUTSIDE, chain->at, 1);
}
