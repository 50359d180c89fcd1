/*
 * Code without rules: does the frame exist that the frame pointer should point to, by the next
 * instructions of the thread?  It is not yet at the begin of a function, and not any more at its
 * end; some functions never make one.  For the host and the kernel programs: no libc, no loop
 * without an end.  Each machine has its own function, so that both can be tested on either.
 */
#pragma once

#include <linux/types.h>

#define UNFRAMED_WORDS 32                   /* instructions of aarch64 that are read */
#define UNFRAMED_BYTES (UNFRAMED_WORDS * 4) /* the same, as both machines read them */

enum unframed_kind {
	UNFRAMED_NOT,    /* the frame exists, as far as visible */
	UNFRAMED_BARE,   /* the return address is in lr still, or where sp points to (x86-64) */
	UNFRAMED_PUSHED, /* the caller's fp and the return address are at sp + distance */
};

struct unframed {
	__u32 kind; /* enum unframed_kind */
	__s32 distance;
};

/* stp and ldp of whole registers; str and ldr that move their base or not. */
#define UNFRAMED_IS_PAIR(word) (((word)&0xfe000000) == 0xa8000000)
#define UNFRAMED_IS_SINGLE(word) \
	(((word)&0xffa00000) == 0xf8000000 || ((word)&0xff800000) == 0xf9000000)
#define UNFRAMED_IS_LOAD(word) ((word)&0x00400000)
#define UNFRAMED_IS_LR(word)   (((word)&31) == 30)
#define UNFRAMED_HAS_LR(word)                                                               \
	((UNFRAMED_IS_PAIR(word) && (UNFRAMED_IS_LR(word) || ((word) >> 10 & 31) == 30)) || \
	 (UNFRAMED_IS_SINGLE(word) && UNFRAMED_IS_LR(word)))

enum unframed_step {
	UNFRAMED_GO_ON,
	UNFRAMED_LR_NEEDED, /* returned by, or saved */
	UNFRAMED_LR_GONE,   /* overwritten: the return address is saved */
	UNFRAMED_SETS_FP,   /* to the record that was just saved */
	UNFRAMED_MOVES_SP,  /* down */
	UNFRAMED_GOES_AWAY,
};

/* How far it moves sp down. */
static inline __u32 unframed_down(__u32 word)
{
	if ((word & 0xffc003ff) == 0xd10003ff) /* sub sp, sp, #n */
		return word >> 10 & 0xfff;
	if ((word & 0xffe003e0) == 0xa9a003e0) /* stp xA, xB, [sp, #-n]! */
		return (128 - (word >> 15 & 127)) * 8;
	if ((word & 0xfff00fe0) == 0xf8100fe0) /* str xA, [sp, #-n]! */
		return 512 - (word >> 12 & 511);
	return 0;
}

/* Reads on from the thread's pc: the first use of lr shows what lr holds. */
static inline enum unframed_step unframed_step(__u32 word)
{
	if ((word & 0xfffffc1f) == 0xd65f0000 || (word & 0xfffffbff) == 0xd65f0bff)
		return (word & 0x3e0) == 0x3c0 || word & 0x800 ? UNFRAMED_LR_NEEDED
							       : UNFRAMED_GOES_AWAY;
	if (UNFRAMED_HAS_LR(word))
		return UNFRAMED_IS_LOAD(word) ? UNFRAMED_LR_GONE : UNFRAMED_LR_NEEDED;
	if ((word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000)
		return UNFRAMED_LR_GONE; /* bl, blr */
	if ((word & 0xffc003ff) == 0x910003fd)
		return UNFRAMED_SETS_FP; /* add x29, sp, #n */
	if (unframed_down(word))
		return UNFRAMED_MOVES_SP;
	return (word & 0xfc000000) == 0x14000000 || (word & 0xfffffc1f) == 0xd61f0000
		       ? UNFRAMED_GOES_AWAY /* b, br */
		       : UNFRAMED_GO_ON;
}

/* The state of reading the instructions. */
struct unframed_look {
	__u32 step, word, down;
};

/* Whether this instruction decides. */
static inline int unframed_take(struct unframed_look *look, __u32 word)
{
	look->word = word;
	look->step = unframed_step(word);
	if (look->step == UNFRAMED_MOVES_SP)
		look->down += unframed_down(word);
	return look->step != UNFRAMED_GO_ON && look->step != UNFRAMED_MOVES_SP;
}

static inline struct unframed unframed_judge(const struct unframed_look *look)
{
	struct unframed found = { UNFRAMED_NOT, 0 };

	if (look->step == UNFRAMED_LR_NEEDED)
		found.kind = UNFRAMED_BARE;
	if (look->step == UNFRAMED_SETS_FP) {
		found.kind = UNFRAMED_PUSHED;
		found.distance = (__s32)(look->word >> 10 & 0xfff) - (__s32)look->down;
	}
	return found;
}

static inline struct unframed unframed_aarch64(const __u32 words[UNFRAMED_WORDS])
{
	struct unframed_look look = { 0 };

	for (int i = 0; i < UNFRAMED_WORDS && !unframed_take(&look, words[i]); i++)
		;
	return unframed_judge(&look);
}

/* Four bytes from there on, the first one lowest. */
#define UNFRAMED_FOUR(bytes, at)                                                               \
	((__u32)(bytes)[at] | (__u32)(bytes)[(at) + 1] << 8 | (__u32)(bytes)[(at) + 2] << 16 | \
	 (__u32)(bytes)[(at) + 3] << 24)
#define UNFRAMED_IS_RETURN(byte) ((byte) == 0xc3 || (byte) == 0xc2)
/* mov rbp, rsp, in both its forms */
#define UNFRAMED_IS_MOVE(three) ((three) == 0xe58948 || (three) == 0xec8b48)

static inline struct unframed unframed_x86_64(const __u8 bytes[UNFRAMED_BYTES])
{
	const struct unframed bare = { UNFRAMED_BARE, 0 }, pushed = { UNFRAMED_PUSHED, 0 },
			      not = { UNFRAMED_NOT, 0 };
	__u32 four = UNFRAMED_FOUR(bytes, 0), next = UNFRAMED_FOUR(bytes, 4);

	if (UNFRAMED_IS_RETURN(bytes[0]) || (four & 0xffff) == 0xc3f3)
		return bare;
	if (bytes[0] == 0x55 && UNFRAMED_IS_MOVE(four >> 8)) /* push rbp */
		return bare;
	if (four == 0xfa1e0ff3 && bytes[4] == 0x55 && UNFRAMED_IS_MOVE(next >> 8)) /* endbr64 */
		return bare;
	if (UNFRAMED_IS_MOVE(four & 0xffffff))
		return pushed;
	/* pop rbp, then perhaps vzeroupper, and a return */
	if (bytes[0] == 0x5d && (UNFRAMED_IS_RETURN(bytes[1]) ||
				 (four >> 8 == 0x77f8c5 && UNFRAMED_IS_RETURN(bytes[4]))))
		return pushed;
	return not ;
}
