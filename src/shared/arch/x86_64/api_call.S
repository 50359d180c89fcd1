/*
 * Calls of API tables; see aarch64's api_call.S.
 */
#include "shared/arch/api_call.h"

	.text
	.intel_syntax noprefix

	.macro function name
	.globl \name
	.hidden \name
	.type \name, @function
	.balign 16
\name:
	.endm

	/* For the few functions with arguments in them. */
	.macro move_vectors instruction, at
	cmp	byte ptr [r11 + SLOT_VECTORS], 0
	je	8f
	.set	index, 0
	.irp	register, xmm0, xmm1, xmm2, xmm3, xmm4, xmm5, xmm6, xmm7
	.ifc	\instruction, save
	movups	[rsp + \at + index], \register
	.else
	movups	\register, [rbp - CALL_FRAME + \at + index]
	.endif
	.set	index, index + 16
	.endr
8:
	.endm

	.macro load_arguments
	mov	r11, [rbp - CALL_FRAME + CALL_SLOT]
	move_vectors load, CALL_VECTORS
	mov	rdi, [rbp - CALL_FRAME]
	mov	rsi, [rbp - CALL_FRAME + 8]
	mov	rdx, [rbp - CALL_FRAME + 16]
	mov	rcx, [rbp - CALL_FRAME + 24]
	mov	r8, [rbp - CALL_FRAME + 32]
	mov	r9, [rbp - CALL_FRAME + 40]
	mov	r10, [rbp - CALL_FRAME + 48]
	mov	rax, [rbp - CALL_FRAME + CALL_INDIRECT]
	.endm

	function call_thunk
	.cfi_startproc
	push	rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	rbp, rsp
	.cfi_def_cfa_register rbp
	sub	rsp, CALL_FRAME
	mov	[rsp], rdi
	mov	[rsp + 8], rsi
	mov	[rsp + 16], rdx
	mov	[rsp + 24], rcx
	mov	[rsp + 32], r8
	mov	[rsp + 40], r9
	mov	[rsp + 48], r10
	mov	[rsp + CALL_INDIRECT], rax
	mov	[rsp + CALL_SLOT], r11
	move_vectors save, CALL_VECTORS
	lea	rax, [rbp + 16]
	mov	[rsp + CALL_CALLER], rax
	mov	rdi, rsp
	call	call_enter
	test	eax, eax
	jz	2f
	mov	ecx, [rbp - CALL_FRAME + CALL_STACK]
	test	ecx, ecx
	jz	1f
	sub	rsp, rcx
	shr	ecx, 3
	lea	rsi, [rbp + 16]
	mov	rdi, rsp
	rep movsq
1:	load_arguments
	call	[r11 + SLOT_ORIGINAL]
	mov	[rbp - CALL_FRAME + CALL_RESULTS], rax
	mov	[rbp - CALL_FRAME + CALL_RESULTS + 8], rdx
	movups	[rbp - CALL_FRAME + CALL_VECTOR_RESULTS], xmm0
	movups	[rbp - CALL_FRAME + CALL_VECTOR_RESULTS + 16], xmm1
	lea	rdi, [rbp - CALL_FRAME]
	call	call_exit
	movups	xmm0, [rbp - CALL_FRAME + CALL_VECTOR_RESULTS]
	movups	xmm1, [rbp - CALL_FRAME + CALL_VECTOR_RESULTS + 16]
	mov	rax, [rbp - CALL_FRAME + CALL_RESULTS]
	mov	rdx, [rbp - CALL_FRAME + CALL_RESULTS + 8]
	leave
	.cfi_remember_state
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_restore_state
2:	load_arguments
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	jmp	[r11 + SLOT_ORIGINAL]
	.cfi_endproc
	.size call_thunk, . - call_thunk

	/* bool guard_run(work, argument, place): true when an exception ended the work.  *place
	 * gets the address of its frame, which has all that a jump back to it needs. */
	function guard_run
	.cfi_startproc
	.cfi_personality 0x1b, guard_personality
	endbr64
	push	rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	rbp, rsp
	.cfi_def_cfa_register rbp
	push	rbx
	.cfi_offset rbx, -24
	push	r12
	.cfi_offset r12, -32
	push	r13
	.cfi_offset r13, -40
	push	r14
	.cfi_offset r14, -48
	push	r15
	.cfi_offset r15, -56
	sub	rsp, 8
	mov	[rdx], rsp
	mov	rax, rdi
	mov	rdi, rsi
	call	rax
	xor	eax, eax
guard_end:
	mov	r15, [rbp - 40]
	mov	r14, [rbp - 32]
	mov	r13, [rbp - 24]
	mov	r12, [rbp - 16]
	mov	rbx, [rbp - 8]
	leave
	.cfi_remember_state
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	.cfi_restore rbx
	.cfi_restore r12
	.cfi_restore r13
	.cfi_restore r14
	.cfi_restore r15
	ret
	.cfi_restore_state
	.globl	guard_landing
	.hidden	guard_landing
guard_landing:
	endbr64
	mov	rdi, rax
	call	guard_caught
	mov	eax, 1
	jmp	guard_end
	.cfi_endproc
	.size guard_run, . - guard_run

	/* void guard_escape(frame): makes guard_run() return true, from any depth of calls. */
	function guard_escape
	.cfi_startproc
	mov	rsp, rdi
	lea	rbp, [rsp + 48]
	mov	eax, 1
	jmp	guard_end
	.cfi_endproc
	.size guard_escape, . - guard_escape

	function call_choose
	.cfi_startproc
	cmp	dword ptr [r11 + SLOT_IS_ON], 0
	jne	call_thunk
	jmp	[r11 + SLOT_ORIGINAL]
	.cfi_endproc
	.size call_choose, . - call_choose

	/* One for each struct call_slot of call_slots. */
	function call_stubs
	.cfi_startproc
	.set index, 0
	.rept CALL_SLOTS
	endbr64
	lea	r11, [rip + call_slots + index * SLOT_SIZE]
	.byte	0xe9 /* a jump of five bytes, however near it is */
	.long	call_choose - . - 4
	.set index, index + 1
	.endr
	.cfi_endproc
	.size call_stubs, . - call_stubs

	/* This code has landing pads and returns where it was called from (IBT, SHSTK). */
	.section .note.gnu.property, "a", @note
	.balign 8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
