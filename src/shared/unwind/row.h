/*
 * One row of an unwind table: from this address on, until the next row, the caller's frame is found
 * so.  Tables are made from .eh_frame by the host (host/unwind) and used by the host and by the
 * kernel programs, so this file knows no libc.
 *
 * Registers by role: CFA is the stack pointer of the caller, fp is rbp on x86-64 and x29 on
 * aarch64.
 */
#pragma once

#include <linux/types.h>

enum unwind_kind {
	UNWIND_NONE,    /* nothing is known here (no FDE): the frame-pointer rule is tried */
	UNWIND_SP,      /* CFA = sp + cfa * 8 */
	UNWIND_FP,      /* CFA = fp + cfa * 8 */
	UNWIND_PLT,     /* CFA = sp + 8 + ((pc & 15) >= 11 ? 8 : 0), and the like (x86-64) */
	UNWIND_SIGNAL,  /* a frame that the kernel laid: all registers come from it */
	UNWIND_END,     /* the outermost frame: there is no caller */
	UNWIND_SPECIAL, /* `cfa` is an index into the table's specials */
	UNWIND_BAD,     /* a rule that cannot be said in a row */
	UNWIND_KINDS,
};

#define UNWIND_FP_SAME   (-128) /* the caller's fp is in the register still */
#define UNWIND_PAGE_BITS 8      /* the index has one entry for so many bytes of code */

struct unwind_row {
	__u32 pc;  /* offset in the module's address range (address - bias - first address) */
	__u16 cfa; /* in words of 8 bytes */
	__s8 fp; /* where the caller's fp lies, in words from the CFA (negative); UNWIND_FP_SAME */
	__u8 kind; /* enum unwind_kind; on aarch64 the top bit says that the return address is in lr
		    */
};

/* Rules that rows have no room for: CFA = *(register + offset) + addition, large offsets. */
struct unwind_special {
	__u8 base; /* 0: sp, 1: fp */
	__u8 is_dereferenced;
	__u8 has_fp; /* else the caller's fp is in the register still */
	__u8 reserved;
	__s32 offset;    /* from base, before reading */
	__s32 addition;  /* after it */
	__s32 fp_offset; /* from the CFA */
};
