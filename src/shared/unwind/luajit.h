/*
 * The frame on the C stack in which LuaJIT runs: its assembly has one of a fixed size, and so has
 * compiled code, which uses more stack below it as needed.  The frame leads to the running state,
 * and that leads back to the frame: nothing else does, so it can be searched for.  Offsets in
 * bytes, of builds with references of 64 bits (GC64).  Used by host and kernel programs: no libc.
 */
#pragma once

#include <linux/types.h>

#define LUAJIT_FRAME_STATE 16 /* in the frame */
#define LUAJIT_STATE_FRAME 80 /* in the state; the lowest bits are flags */
#define LUAJIT_STATE_HEAD  8
#define LUAJIT_KIND_STATE  6
#define LUAJIT_FRAME_MASK  (~3ull)
#define LUAJIT_STATE_BITS  47  /* an address of a state is below this power of two */
#define LUAJIT_REACH       192 /* words below a frame: spilled values, and those saved at exits */

/* `cfa` of UNWIND_LUAJIT: the size of the frame in words, and whether it is the assembly's, which
 * has nothing below the frame while it calls C, except at exits from compiled code. */
#define LUAJIT_SIZE_MASK 0xff
#define LUAJIT_ASSEMBLY  0x100

#define LUAJIT_WORDS_X86_64  10
#define LUAJIT_WORDS_AARCH64 26
#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#define LUAJIT_WORDS LUAJIT_WORDS_X86_64
#else
#define LUAJIT_WORDS LUAJIT_WORDS_AARCH64
#endif
#define LUAJIT_FP (-2) /* the caller's fp, in words from the CFA */

/* Whether the second word of an object marks it as a state. */
static inline int luajit_is_state(__u64 head)
{
	return (head >> 8 & 0xff) == LUAJIT_KIND_STATE;
}

/* Whether a word of the stack can be the address of a state. */
static inline int luajit_may_be_state(__u64 word)
{
	return word && !(word & 7) && !(word >> LUAJIT_STATE_BITS);
}
