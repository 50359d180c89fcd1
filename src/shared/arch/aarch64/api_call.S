/*
 * Calls of API tables.  A word of an API table holds the address of a stub; the stub finds its
 * struct call_slot.  If no sink wants the call, the stub jumps to the original.  Else it saves all
 * possible arguments, call_enter() runs limpet's handlers and calls tools, the original is called,
 * and call_exit() does the same again.  Tools use vector registers, so those with arguments or
 * results are saved, too.  Return addresses are never replaced, and the frames are described for
 * unwinders: exceptions, longjmp and cancellation simply leave them behind.
 */
#include "shared/arch/api_call.h"

	.text

	.macro function name
	.globl \name
	.hidden \name
	.type \name, %function
	.balign 16
\name:
	.endm

	/* For the few functions with arguments in them. */
	.macro move_vectors instruction, base
	ldrb	w10, [x16, #SLOT_VECTORS]
	cbz	w10, 8f
	\instruction	q0, q1, [\base, #CALL_VECTORS]
	\instruction	q2, q3, [\base, #CALL_VECTORS + 32]
	\instruction	q4, q5, [\base, #CALL_VECTORS + 64]
	\instruction	q6, q7, [\base, #CALL_VECTORS + 96]
8:
	.endm

	.macro load_arguments
	sub	x9, x29, #CALL_FRAME
	ldp	x16, x8, [x9, #CALL_SLOT]
	move_vectors ldp, x9
	ldp	x0, x1, [x9, #0]
	ldp	x2, x3, [x9, #16]
	ldp	x4, x5, [x9, #32]
	ldp	x6, x7, [x9, #48]
	.endm

	function call_thunk
	.cfi_startproc
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	.cfi_def_cfa x29, 16
	sub	sp, sp, #CALL_FRAME
	stp	x0, x1, [sp, #0]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x16, x8, [sp, #CALL_SLOT]
	move_vectors stp, sp
	add	x9, x29, #16
	str	x9, [sp, #CALL_CALLER]
	mov	x0, sp
	bl	call_enter
	cbz	w0, 2f
	sub	x9, x29, #CALL_FRAME
	ldr	w10, [x9, #CALL_STACK]
	sub	sp, sp, x10
	mov	x11, sp
	add	x12, x29, #16
3:	cbz	w10, 1f
	ldp	x13, x14, [x12], #16
	stp	x13, x14, [x11], #16
	sub	w10, w10, #16
	b	3b
1:	load_arguments
	ldr	x17, [x16, #SLOT_ORIGINAL]
	blr	x17
	sub	x9, x29, #CALL_FRAME
	mov	sp, x9
	stp	x0, x1, [x9, #CALL_RESULTS]
	stp	q0, q1, [x9, #CALL_VECTOR_RESULTS]
	mov	x0, x9
	bl	call_exit
	sub	x9, x29, #CALL_FRAME
	ldp	q0, q1, [x9, #CALL_VECTOR_RESULTS]
	ldp	x0, x1, [x9, #CALL_RESULTS]
	mov	sp, x29
	.cfi_def_cfa_register sp
	ldp	x29, x30, [sp], #16
	.cfi_remember_state
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_restore_state
	.cfi_def_cfa x29, 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
2:	load_arguments
	mov	sp, x29
	.cfi_def_cfa_register sp
	ldp	x29, x30, [sp], #16
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ldr	x17, [x16, #SLOT_ORIGINAL]
	br	x17
	.cfi_endproc
	.size call_thunk, . - call_thunk

	/* bool guard_run(work, argument, place): true when an exception ended the work.  *place
	 * gets the address of its frame, which has all that a jump back to it needs. */
	function guard_run
	.cfi_startproc
	.cfi_personality 0x1b, guard_personality
	hint	#34 /* bti c */
	stp	x29, x30, [sp, #-160]!
	.cfi_def_cfa_offset 160
	.cfi_offset x29, -160
	.cfi_offset x30, -152
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	.cfi_offset x19, -144
	.cfi_offset x20, -136
	.cfi_offset x21, -128
	.cfi_offset x22, -120
	.cfi_offset x23, -112
	.cfi_offset x24, -104
	.cfi_offset x25, -96
	.cfi_offset x26, -88
	.cfi_offset x27, -80
	.cfi_offset x28, -72
	.cfi_offset d8, -64
	.cfi_offset d9, -56
	.cfi_offset d10, -48
	.cfi_offset d11, -40
	.cfi_offset d12, -32
	.cfi_offset d13, -24
	.cfi_offset d14, -16
	.cfi_offset d15, -8
	str	x29, [x2]
	mov	x9, x0
	mov	x0, x1
	blr	x9
	mov	w0, wzr
guard_end:
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	ldp	x29, x30, [sp], #160
	.cfi_remember_state
	.cfi_restore x19
	.cfi_restore x20
	.cfi_restore x21
	.cfi_restore x22
	.cfi_restore x23
	.cfi_restore x24
	.cfi_restore x25
	.cfi_restore x26
	.cfi_restore x27
	.cfi_restore x28
	.cfi_restore d8
	.cfi_restore d9
	.cfi_restore d10
	.cfi_restore d11
	.cfi_restore d12
	.cfi_restore d13
	.cfi_restore d14
	.cfi_restore d15
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_restore_state
	.globl	guard_landing
	.hidden	guard_landing
guard_landing:
	hint	#38 /* bti j */
	bl	guard_caught
	mov	w0, #1
	b	guard_end
	.cfi_endproc
	.size guard_run, . - guard_run

	/* void guard_escape(frame): makes guard_run() return true, from any depth of calls. */
	function guard_escape
	.cfi_startproc
	hint	#34 /* bti c */
	mov	sp, x0
	mov	x29, sp
	mov	w0, #1
	b	guard_end
	.cfi_endproc
	.size guard_escape, . - guard_escape

	function call_choose
	.cfi_startproc
	hint	#38 /* bti j */
	ldr	w17, [x16, #SLOT_IS_ON]
	cbnz	w17, call_thunk
	ldr	x17, [x16, #SLOT_ORIGINAL]
	br	x17
	.cfi_endproc
	.size call_choose, . - call_choose

	/* One for each struct call_slot of call_slots. */
	function call_stubs
	.cfi_startproc
	.set index, 0
	.rept CALL_SLOTS
	hint	#34 /* bti c */
	adrp	x16, call_slots + index * SLOT_SIZE
	add	x16, x16, :lo12:call_slots + index * SLOT_SIZE
	b	call_choose
	nop
	.set index, index + 1
	.endr
	.cfi_endproc
	.size call_stubs, . - call_stubs

	/* This code has landing pads (BTI). */
	.section .note.gnu.property, "a", %note
	.balign 8
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0

	.section .note.GNU-stack, "", %progbits
