/*
 * The data by which Go switches from a thread's own stack back to the goroutine's.  Offsets in
 * bytes, the same in all versions since Go 1.12.  Used by host and kernel programs: no libc.
 *
 *   g (a goroutine, or g0: the thread's own)      m (a thread)
 *     8   the end of its stack                      0   its g0
 *     48  its m                                     ... the goroutine that runs: by its version
 *     56  its gobuf: sp, pc, three more, lr, bp
 *
 * While Go code called back from C runs, the gobuf of g0 has the sp with which runtime.cgocallback
 * left the thread's own stack.  The word there is the sp of the callback before, if one waits
 * further out.
 *
 * Go 1.25 removed one word from the gobuf; m has one, too, before the goroutine.
 */
#pragma once

#include <linux/types.h>

#define GO_G_STACK_END 8
#define GO_G_M         48
#define GO_G_GOBUF     56
#define GO_M_G0        0

/* Where the goroutine is in m while gobufs have seven words. */
#define GO_M_GOROUTINE_OF_SEVEN 0xc0

enum go_gobuf {
	GO_GOBUF_SP,
	GO_GOBUF_PC,
	GO_GOBUF_LR_OF_SIX = 4, /* of seven words, one behind */
	GO_GOBUF_BP_OF_SIX = 5,
	GO_GOBUF_WORDS = 7,
};

/* UNWIND_GO_CGO: from the stack pointer, the saved state of the goroutine's stack, in words from
 * its g: its depth, or, with no g, the stack pointer itself. */
#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#define GO_DEPTH_FROM_G (-1)
#define GO_REGISTER_G   14 /* in DWARF */
#else
#define GO_DEPTH_FROM_G 1
#define GO_REGISTER_G   28
#endif
