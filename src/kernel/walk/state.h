/*
 * The state of a walk up a stack, and the memory that it reads. Memory is read in pieces that do
 * not cross a page: a failed read costs more than a hundred successful ones.
 */
#pragma once

#include "kernel/base/machine.h"
#include "kernel/base/maps.h"
#include "shared/unwind/unframed.h"

#define PAGE_SIZE     4096
#define LINE_SIZE     64
#define CHUNK_SIZE    1024
#define FRAMES_MASK   2047 /* kernel frames and SAMPLE_FRAMES_MAX fit below it */
#define LUAJIT_FRAMES 16   /* number of kept frames; a power of two */
#define KNOWN_BITS    9    /* log2 of the number of kept rules */

_Static_assert(SAMPLE_FRAMES_MAX + KERNEL_FRAMES_MAX <= FRAMES_MASK, "frames fit");

/* The cached rule of an address. Programs return to few addresses: most frames need no search.
 * Valid as long as the process has the same ranges. */
struct known_rule {
	__u64 address;
	__u32 generation;
	__u16 cfa;
	__s8 fp;
	__u8 kind;
};

struct walk {
	__u64 pc, sp, fp, lr;
	__u64 unknown; /* the address outside of known code that ended the walk */
	__u64 chunk_start, chunk_size;
	__u32 first_range, range_count, generation;
	__u8 is_exact;      /* pc is the current position, not a return address */
	__u8 is_innermost;  /* `registers` belong to this frame */
	__u8 was_guided;    /* the last step used the frame pointer */
	__u8 was_innermost; /* `registers` belong to its callee */
	__u8 is_sp_lost;    /* sp is lower than the true one, or equal (aarch64) */
	__u8 signals;       /* number of signal frames and other switches of stacks */
	__u8 is_for_host;   /* only the host can continue this walk */
	__u8 luajit_count;
	__u8 is_luajit_exact;        /* the thread's position is in the innermost one */
	__u8 is_luajit_compiled;     /* its code is compiled, not the interpreter's assembly */
	__u16 luajit_number;         /* of its native frame */
	__u64 luajit_fp;             /* fp in it */
	__u64 luajit[LUAJIT_FRAMES]; /* addresses of LuaJIT's frames, innermost first */
	__u64 below;                 /* its callee's sp */
	__u64 start_stack;           /* of the process; see struct kernel_process */
	__u64 go;                    /* the goroutine register */
	__u64 called_back;           /* sp of the last callback from C to Go; 0: none yet */
	/* The walk's position behind a function that throws (UNWIND_THROWS). 0: none. */
	__u64 doubted_ra, doubted_sp, doubted_fp;
	__u64 seeking;  /* where a call with that return address is searched for; 0: no search */
	__u64 tried_sp; /* the last sp tried there; 0: none */
	__u16 doubted_count;
	struct kernel_range range; /* of the last frame */
	union {
		__u8 bytes[UNFRAMED_BYTES];
		__u32 words[UNFRAMED_WORDS];
	} code; /* at the thread's position */
	struct pt_regs registers;
	struct sample sample;
	__u64 frames[FRAMES_MASK + 1]; /* directly behind the sample */
	__u8 chunk[CHUNK_SIZE];
	struct known_rule known[1 << KNOWN_BITS]; /* kept from walk to walk */
};

/* The argument of a step. task: its memory is read in iterators, else the current one's. */
struct climb {
	struct walk *walk;
	struct task_struct *task;
};

enum step_result {
	STEP_ON = 0,
	STEP_END = 1,
};

/* Keeps clang from folding known values into pointers that the verifier cannot follow. */
#define BOUND(index, mask) asm volatile("%0 &= %1" : "+r"(index) : "i"(mask))

/* ITERATOR: this object walks the stacks of other tasks; see threads.bpf.c. */
ALWAYS_INLINE long read_memory(struct climb *climb, void *to, __u32 size, __u64 address)
{
#ifdef ITERATOR
	return bpf_copy_from_user_task(to, size, (void *)address, climb->task, 0);
#else
	return bpf_probe_read_user(to, size, (void *)address);
#endif
}

/* Returns a word of the piece read last. */
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
