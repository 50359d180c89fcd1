/*
 * Entries for samples of allocations, before thunk_chosen: nearly all calls are no samples and go
 * on to the original from here, without a frame and without a store but that of the countdown.
 * Undecided calls go on to thunk_chosen unchanged.
 *
 *   alloc_give          the first argument is an address that is given back
 *   alloc_take_first    the first argument is the size
 *   alloc_take_product  the product of the first two is
 *   alloc_move          both: an address that is given back, then a size
 *
 * Only x9 to x15 and x17 are used, which belong to no argument.
 */
#include "shared/arch/thunk.h"

	.text

	.macro function name
	.globl \name
	.hidden \name
	.type \name, %function
	.balign 16
\name:
	.cfi_startproc
	hint	#34 /* bti c */
	.endm

	/* alloc_filter_index() */
	.macro pass_unless_sampled address
	adrp	x9, alloc_filter
	add	x9, x9, :lo12:alloc_filter
	lsr	x10, \address, #ALLOC_FILTER_LOW
	eor	x10, x10, \address, lsr #ALLOC_FILTER_HIGH
	and	x10, x10, #(ALLOC_FILTER_BYTES - 1)
	ldrb	w9, [x9, x10]
	cbnz	w9, 9f
	.endm

	/* The return address is not in this code. */
	.macro check_code at
	ldp	x11, x12, [x9, #\at] /* struct code */
	sub	x11, x30, x11
	cmp	x11, x12
	b.lo	9f
	.endm

	/* Jumps to sample_choose() if the hook is on and marked, its caller is no allocation
	 * itself, the thread has a writer, and the size is less than the rest of the countdown. */
	.macro pass_unless_crossed size
	add	x9, x16, #HOOK_AT_IS_ON
	ldar	w9, [x9] /* pairs with hook_announce() */
	ldr	w10, [x16, #HOOK_AT_MARK]
	tst	w9, w10
	b.eq	9f
	adrp	x9, alloc_known
	add	x9, x9, :lo12:alloc_known
	check_code KNOWN_AT_OPERATORS
	check_code KNOWN_AT_THUNKS
	ldp	x10, x11, [x9, #KNOWN_AT_SESSION]
	mrs	x9, tpidr_el0
	add	x9, x9, x11
	ldr	w10, [x10]
	ldr	w11, [x9, #SELF_AT_SESSION]
	cbz	w10, 9f
	cmp	w10, w11
	b.ne	9f
	ldr	x9, [x9, #SELF_AT_WRITER]
	cbz	x9, 9f
	ldr	x11, [x9, #WRITER_AT_HANDING_ON]
	cbnz	x11, 9f
	ldr	x10, [x9, #WRITER_AT_SAMPLE_LEFT]
	subs	x10, x10, \size
	b.ls	9f
	tbnz	x10, #63, 9f /* the interrupted thread left it below zero */
	str	x10, [x9, #WRITER_AT_SAMPLE_LEFT]
	.endm

	.macro pass_on name
	ldr	x17, [x16, #HOOK_AT_ORIGINAL]
	br	x17
9:	b	thunk_chosen
	.cfi_endproc
	.size \name, . - \name
	.endm

	function alloc_give
	pass_unless_sampled x0
	pass_on alloc_give

	function alloc_take_first
	pass_unless_crossed x0
	pass_on alloc_take_first

	function alloc_take_product
	mul	x13, x0, x1
	pass_unless_crossed x13
	pass_on alloc_take_product

	function alloc_move
	pass_unless_sampled x0
	pass_unless_crossed x1
	pass_on alloc_move

	/* This code has landing pads (BTI). */
	.section .note.gnu.property, "a", %note
	.balign 8
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0

	.section .note.GNU-stack, "", %progbits
