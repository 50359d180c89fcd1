/*
 * Entries for samples of allocations; see aarch64's alloc_thunk.S.  Only rax and r10 are used: none
 * of these functions is called with vector arguments that are counted, or is a nested one.
 */
#include "shared/arch/thunk.h"

	.text
	.intel_syntax noprefix

	.macro function name
	.globl \name
	.hidden \name
	.type \name, @function
	.balign 16
\name:
	.cfi_startproc
	endbr64
	.endm

	/* alloc_filter_index() */
	.macro pass_unless_sampled address
	mov	rax, \address
	mov	r10, \address
	shr	rax, ALLOC_FILTER_LOW
	shr	r10, ALLOC_FILTER_HIGH
	xor	eax, r10d
	and	eax, ALLOC_FILTER_BYTES - 1
	lea	r10, [rip + alloc_filter]
	cmp	byte ptr [r10 + rax], 0
	jne	9f
	.endm

	/* The return address is not in this code. */
	.macro check_code at
	mov	rax, [rsp]
	sub	rax, [rip + alloc_known + \at] /* struct code */
	cmp	rax, [rip + alloc_known + \at + 8]
	jb	9f
	.endm

	/* Jumps to sample_choose() if the hook is on and marked, its caller is no allocation
	 * itself, the thread has a writer, and the size is less than the rest of the countdown. */
	.macro pass_unless_crossed first, second
	mov	eax, [r11 + HOOK_AT_IS_ON] /* pairs with hook_announce() */
	test	eax, [r11 + HOOK_AT_MARK]
	jz	9f
	check_code KNOWN_AT_OPERATORS
	check_code KNOWN_AT_THUNKS
	mov	rax, [rip + alloc_known + KNOWN_AT_SESSION]
	mov	r10, [rip + alloc_known + KNOWN_AT_SELF]
	mov	eax, [rax]
	test	eax, eax
	jz	9f
	cmp	eax, fs:[r10 + SELF_AT_SESSION]
	jne	9f
	mov	r10, fs:[r10 + SELF_AT_WRITER]
	test	r10, r10
	jz	9f
	cmp	qword ptr [r10 + WRITER_AT_HANDING_ON], 0
	jne	9f
	mov	rax, [r10 + WRITER_AT_SAMPLE_LEFT]
	.ifnb \second
	push	\first
	.cfi_adjust_cfa_offset 8
	imul	\first, \second
	sub	rax, \first
	pop	\first /* keeps the flags */
	.cfi_adjust_cfa_offset -8
	.else
	sub	rax, \first
	.endif
	jbe	9f
	js	9f /* the interrupted thread left it below zero */
	mov	[r10 + WRITER_AT_SAMPLE_LEFT], rax
	.endm

	.macro pass_on name
	jmp	[r11 + HOOK_AT_ORIGINAL]
9:	jmp	thunk_chosen
	.cfi_endproc
	.size \name, . - \name
	.endm

	function alloc_give
	pass_unless_sampled rdi
	pass_on alloc_give

	function alloc_take_first
	pass_unless_crossed rdi
	pass_on alloc_take_first

	function alloc_take_product
	pass_unless_crossed rdi, rsi
	pass_on alloc_take_product

	function alloc_move
	pass_unless_sampled rdi
	pass_unless_crossed rsi
	pass_on alloc_move

	/* This code has landing pads and returns where it was called from (IBT, SHSTK). */
	.section .note.gnu.property, "a", @note
	.balign 8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
