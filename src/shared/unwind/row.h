/*
 * One row of an unwind table: how to find the caller's frame from this address on, until the next
 * row.  Tables are made from .eh_frame by the host (host/unwind) and used by the host and by the
 * kernel programs, so this file uses no libc.
 *
 * Registers by role: CFA is the stack pointer of the caller, fp is rbp on x86-64 and x29 on
 * aarch64.  The return address (ra) lies at CFA - 8 on x86-64.  On aarch64 it lies 8 above the
 * saved fp, unless the flags below say otherwise.
 */
#pragma once

#include <linux/types.h>

enum unwind_kind {
	UNWIND_NONE,    /* nothing is known here (no FDE): the frame-pointer rule is tried */
	UNWIND_SP,      /* CFA = sp + cfa * 8 */
	UNWIND_FP,      /* CFA = fp + cfa * 8 */
	UNWIND_PLT,     /* CFA = sp + 8 + ((pc & 15) >= cfa ? 8 : 0); cfa is 11, 10 or 9 (x86-64) */
	UNWIND_SIGNAL,  /* a frame made by the kernel: all registers are restored from it */
	UNWIND_END,     /* the outermost frame: there is no caller */
	UNWIND_SPECIAL, /* `cfa` is an index into the table's specials */
	UNWIND_BAD,     /* a rule that no row can hold */
	UNWIND_NEWER,   /* code newer than the table: the walk may be retried */
	UNWIND_GO_GOBUF,  /* to a goroutine, by its gobuf.  `cfa`: its offset in m, in words */
	UNWIND_GO_CGO,    /* Go called C on another stack.  `cfa`: the saved goroutine's offset
			     from sp, in words, and above eight bits the old frame's size */
	UNWIND_GO_FP,     /* as UNWIND_FP, and the caller's stack is another one than sp's */
	UNWIND_GO_PUSHED, /* as UNWIND_SP, but not called: Go made this function look called
			     (by a signal handler), and ra is where the caller stands.  aarch64: it
			     is in lr or at sp, and the handler has pushed the caller's lr before,
			     which is at CFA - 16 */
	UNWIND_LUAJIT,  /* LuaJIT's frame, searched from sp up (luajit.h).  `cfa`: size and owner */
	UNWIND_CONTEXT, /* aarch64: swapcontext() has its return address in a context to which
			   nothing leads any more.  Whose call it is must be looked for.  `cfa`:
			   the row's distance from the function's begin, in bytes */
	UNWIND_GO_CALLED_BACK, /* x86-64: as UNWIND_SP, where sp is what Go keeps of the thread's
				  own stack: C called Go there, which runs on the goroutine's */
	UNWIND_KINDS,
};

/* Beside the kind. */
enum unwind_flag {
	UNWIND_RA_IN_REGISTER = 0x80, /* aarch64: ra is in lr still */
	UNWIND_RA_ALONE = 0x40, /* aarch64: fp was not saved; the row's `fp` is ra's location */
	UNWIND_THROWS = 0x20,   /* a function that goes on in the handler of an
				   exception.  Before it does, it lays the registers of the
				   handler's frame into its own: ra is then the address in the
				   handler's function where its call would have returned to */
	UNWIND_FP_HELD = 0x10,  /* aarch64: fp points to where the caller's is saved, so that the
				   CFA is known by it, too: for callers whose sp is not known */
	UNWIND_KIND_MASK = 0x0f,
};

#define UNWIND_BAD_JIT   0xffff /* `cfa` of UNWIND_BAD: code of a runtime that keeps no frames */
#define UNWIND_FP_SAME   (-128) /* the caller's fp is in the register still */
#define UNWIND_PAGE_BITS 8      /* the index has one entry for so many bytes of code */

struct unwind_row {
	__u32 pc;  /* offset in the module's address range (address - bias - first address) */
	__u16 cfa; /* in words of 8 bytes */
	__s8 fp;   /* the caller's fp, in words from the CFA; UNWIND_FP_SAME */
	__u8 kind; /* enum unwind_kind | enum unwind_flag */
};

enum unwind_base {
	UNWIND_BASE_SP,
	UNWIND_BASE_FP,
	UNWIND_BASE_REGISTER, /* + the DWARF number of a register: known only in the frame whose
				 registers are all known (the innermost one) */
};

enum unwind_saved {
	UNWIND_SAVED_NOT,     /* the caller's value is in the register still */
	UNWIND_SAVED_AT_CFA,  /* at CFA + offset */
	UNWIND_SAVED_AT_BASE, /* at fp + offset, with the fp of this frame (realigned stacks) */
	UNWIND_SAVED_IN,      /* ra only: in the register with the DWARF number `offset`; known only
				 in the innermost frame */
	UNWIND_SAVED_AT_SP,   /* at sp + offset, with the sp of this frame */
	UNWIND_SAVED_BEHIND,  /* ra only: at `offset` from where the register with the DWARF number
				 ra_register points to; known only in the innermost frame */
};

/* Rules that rows have no room for: CFA = base + offset, or *(base + offset), then + addition. */
struct unwind_special {
	__u8 base; /* enum unwind_base */
	__u8 is_dereferenced;
	__u8 fp_saved;   /* enum unwind_saved */
	__u8 ra_saved;   /* the same, of ra: x86-64 has UNWIND_SAVED_AT_CFA and -8 nearly always */
	__s32 offset;    /* from base, before reading */
	__s32 addition;  /* after it */
	__s32 fp_offset; /* see fp_saved */
	__s32 ra_offset; /* see ra_saved */
	/* Below the frame the CFA is irrelevant, and its caller needs none: the frame ends with the
	 * record that fp points to (UNWIND_SAVED_AT_BASE), or with sp.  HotSpot's interpreter makes
	 * frames in stack space that its caller does not use. */
	__u8 is_floored;
	__u8 ra_register; /* of UNWIND_SAVED_BEHIND */
	/* After a call of a function that keeps the base's register, or if there is none that of
	 * ra, and calls no other: the innermost frame's is this one's, too. */
	__u8 is_kept;
	/* The CFA is the lowest possible one (aarch64): the caller's rule must not need sp. */
	__u8 is_low;
};

static inline int unwind_keeps_ra(const struct unwind_special *special)
{
	return special->is_kept && special->base < UNWIND_BASE_REGISTER;
}
