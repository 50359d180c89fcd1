/*
 * A walk up a stack: what is known on the way, and the memory that it reads.  Memory is read in
 * pieces that end with their page: a read that fails costs more than a hundred that do not.
 */
#pragma once

#include "kernel/machine.h"
#include "kernel/maps.h"
#include "shared/unwind/unframed.h"

#define PAGE_SIZE     4096
#define LINE_SIZE     64
#define CHUNK_SIZE    1024
#define FRAMES_MASK   2047 /* those of the kernel and SAMPLE_FRAMES_MAX fit below it */
#define LUAJIT_FRAMES 16   /* so many are kept; a power of two */
#define KNOWN_BITS    9    /* so many rules are kept, as a power of two */

_Static_assert(SAMPLE_FRAMES_MAX + KERNEL_FRAMES_MAX <= FRAMES_MASK, "frames fit");

/* The rule of an address that was met before.  Programs return to few addresses: nearly all frames
 * are spared the search.  It holds as long as the process has the same ranges. */
struct known_rule {
	__u64 address;
	__u32 generation;
	__u16 cfa;
	__s8 fp;
	__u8 kind;
};

struct walk {
	__u64 pc, sp, fp, lr;
	__u64 unknown; /* the address that ended the walk, where nothing is mapped */
	__u64 chunk_start, chunk_size;
	__u32 first_range, range_count, generation;
	__u8 is_exact;      /* pc is where the thread is, not where a call returns to */
	__u8 is_innermost;  /* `registers` are those of this frame */
	__u8 was_guided;    /* the last step was by the frame pointer */
	__u8 was_innermost; /* `registers` are those of whom it has called */
	__u8 is_sp_lost;    /* sp is lower than the true one, or equal (aarch64) */
	__u8 signals;       /* and other switches of stacks */
	__u8 is_for_host;   /* it needs more than can be done here */
	__u8 luajit_count;
	__u8 is_luajit_exact;        /* the innermost one is where the thread stands */
	__u8 is_luajit_compiled;     /* its code is compiled, not the assembly */
	__u16 luajit_number;         /* of its native frame */
	__u64 luajit_fp;             /* fp in it */
	__u64 luajit[LUAJIT_FRAMES]; /* where frames of LuaJIT lie, innermost first */
	__u64 below;                 /* sp of whom it has called */
	__u64 start_stack;           /* of the process; see struct kernel_process */
	__u64 go;                    /* what is in the register of goroutines */
	__u64 called_back;           /* sp of the last callback from C to Go; 0: none yet */
	/* Behind a function that throws (UNWIND_THROWS): where the walk was then.  0: nowhere. */
	__u64 doubted_ra, doubted_sp, doubted_fp;
	__u64 seeking;  /* where the call is looked for that returns there; 0: it is not */
	__u64 tried_sp; /* the last one with which the walk went on there; 0: none */
	__u16 doubted_count;
	struct kernel_range range; /* of the last frame */
	union {
		__u8 bytes[UNFRAMED_BYTES];
		__u32 words[UNFRAMED_WORDS];
	} code; /* before which the thread stands */
	struct pt_regs registers;
	struct sample sample;
	__u64 frames[FRAMES_MASK + 1]; /* the sample's own */
	__u8 chunk[CHUNK_SIZE];
	struct known_rule known[1 << KNOWN_BITS]; /* stays from walk to walk */
};

/* What a step gets.  task: whose memory is read when it is not the current one's. */
struct climb {
	struct walk *walk;
	struct task_struct *task;
};

enum step_result {
	STEP_ON = 0,
	STEP_END = 1,
};

/* clang must not fold what it knows into pointers that the verifier cannot follow. */
#define BOUND(index, mask) asm volatile("%0 &= %1" : "+r"(index) : "i"(mask))

/* ITERATOR: this object walks the stacks of others; see threads.bpf.c. */
ALWAYS_INLINE long read_memory(struct climb *climb, void *to, __u32 size, __u64 address)
{
#ifdef ITERATOR
	return bpf_copy_from_user_task(to, size, (void *)address, climb->task, 0);
#else
	return bpf_probe_read_user(to, size, (void *)address);
#endif
}

/* A word of the piece that was read last. */
ALWAYS_INLINE int word_at_hand(const struct walk *walk, __u64 address, __u64 *ret)
{
	__u64 offset = address - walk->chunk_start;

	if ((address & 7) || offset >= walk->chunk_size)
		return STEP_END;
	BOUND(offset, CHUNK_SIZE - 8);
	*ret = *(const __u64 *)(walk->chunk + offset);
	return STEP_ON;
}

ALWAYS_INLINE int read_word(struct climb *climb, __u64 address, __u64 *ret)
{
	struct walk *walk = climb->walk;
	__u64 start = address & ~(LINE_SIZE - 1ull);
	__u32 size = PAGE_SIZE - (start & (PAGE_SIZE - 1));

	if (word_at_hand(walk, address, ret) == STEP_ON)
		return STEP_ON;
	if (size > CHUNK_SIZE)
		size = CHUNK_SIZE;
	walk->chunk_size = 0;
	if (read_memory(climb, walk->chunk, size, start))
		return STEP_END;
	walk->chunk_start = start;
	walk->chunk_size = size;
	return word_at_hand(walk, address, ret);
}

ALWAYS_INLINE int end_walk(struct walk *walk, enum stack_end end)
{
	walk->sample.end = end;
	return STEP_END;
}
