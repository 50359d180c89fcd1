/*
 * aarch64: waits before the program's first instruction, see shared/arch/doorstep.h.  Must be
 * preserved for the program: x0 (the linker's exit function) and the stack as the kernel made it.
 */
#include "shared/arch/doorstep.h"

	.section .rodata
	.balign 64
	.globl doorstep_begin
	.globl doorstep_end
doorstep_begin:
	mov	x19, x0
	adr	x20, doorstep_begin
	add	x20, x20, #DOORSTEP_DATA
	mov	w9, #DOORSTEP_IS_THERE
	str	w9, [x20, #DOORSTEP_STEP]

	/* ppoll of nothing: a wait that neither libc nor the dynamic linker makes for itself. */
1:	mov	x9, #(DOORSTEP_PAUSE_NS & 0xffff)
	movk	x9, #(DOORSTEP_PAUSE_NS >> 16), lsl #16
	str	xzr, [x20, #DOORSTEP_PAUSE]
	str	x9, [x20, #(DOORSTEP_PAUSE + 8)]
	mov	x0, xzr
	mov	x1, xzr
	add	x2, x20, #DOORSTEP_PAUSE
	mov	x3, xzr
	mov	x4, #8
	mov	x8, #73
	svc	#0
	ldr	x9, [x20, #DOORSTEP_ERRAND]
	cbz	x9, 3f
	ldr	x0, [x20, #DOORSTEP_ARGUMENT]
	mov	x1, xzr
	blr	x9
	str	xzr, [x20, #DOORSTEP_ERRAND]
3:	ldr	w9, [x20, #DOORSTEP_GO]
	cbnz	w9, 2f
	mov	x8, #173 /* getppid */
	svc	#0
	ldr	w9, [x20, #DOORSTEP_PARENT]
	cmp	w0, w9
	b.eq	1b

2:	ldr	x9, [x20, #DOORSTEP_ENTRY_WORD]
	ldr	x17, [x20, #DOORSTEP_ENTRY]
	str	x17, [x9]
	mov	w9, #DOORSTEP_HAS_LEFT
	str	w9, [x20, #DOORSTEP_STEP]

	/* Unmaps itself by code that stays.  munmap returns its result in x0, so it returns into
	 * the end of a function, which moves x19 there and continues to the program by a frame made
	 * here.  Not with a guarded control stack, which allows no such returns. */
	ldr	x10, [x20, #DOORSTEP_EPILOGUE]
	cbz	x10, 4f
	mov	x16, #1
	hint	#40 /* chkfeat x16: 0 where the stack is guarded */
	cbz	x16, 4f
	mov	x30, x17
	ldr	w9, [x20, #DOORSTEP_IS_SIGNED]
	cbz	w9, 5f
	hint	#25 /* paciasp */
5:	ldr	w11, [x20, #DOORSTEP_FRAME_SIZE]
6:	stp	xzr, xzr, [sp, #-16]!
	subs	w11, w11, #16
	b.ne	6b
	str	x30, [sp, #8]
	mov	x30, x10
	ldr	x12, [x20, #DOORSTEP_SYSCALL_RETURN]
	ldr	x0, [x20, #DOORSTEP_REGION]
	mov	x1, #DOORSTEP_SIZE
	mov	x8, #215 /* munmap */
	mov	x20, xzr
	ret	x12 /* into the middle of a function, which br may not in a guarded library (BTI) */

4:	mov	x0, x19
	mov	x19, xzr
	mov	x20, xzr
	br	x17 /* which a guarded program (BTI) allows */
doorstep_end:

	.section .note.GNU-stack, "", @progbits
