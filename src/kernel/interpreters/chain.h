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
